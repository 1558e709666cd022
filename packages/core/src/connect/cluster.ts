import type { Credential } from '../credential/credential.ts'
import { ClosedError } from '../errors/index.ts'
import type { KeeperStatus } from '../keeper/status.ts'
import { type Connection, NO_TARGET } from '../kubeconfig/connection.ts'
import { EXEC_CLUSTER, type ExecCluster, type HasExecCluster } from '../plugin/exec-info.ts'
import { fetchOver } from '../request/fetch.ts'
import { type HasLine, LINE, type Line } from '../request/line.ts'
import { hideSecrets } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'
import type { VaultStatus } from '../vault/vault-status.ts'
import { MADE_BY, VERSION } from '../version.ts'
import { PlainValues, type TlsOptions } from './exposed-credential.ts'
import { execCluster } from './open-keeper.ts'

/** How a connection is doing, as plain data without secrets. */
export interface ClusterStatus {
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  /** Whom all requests act as; where a login says that, it is with the login. */
  readonly as?: string
  readonly server: string
  readonly namespace: string
  /** Of all login handlers, where there are some. */
  readonly credential: KeeperStatus | VaultStatus
}

/** A credential on its way out of the library. */
export interface ExposedCredential extends Credential {
  /** Milliseconds since the epoch; undefined when it has no end. */
  readonly expiresAt?: number
}

export interface ClusterParts {
  readonly connection: Connection
  readonly line: Line
  /** Gives the credentials back; the last one to do so ends them. */
  readonly release: () => Promise<void>
  /** Called once when the connection ends. */
  readonly onClose: () => void
}

/**
 * A connection to one cluster under one identity.
 *
 * Made by `connect()`. Nothing is sent and no plugin runs before the first request.
 */
export class Cluster implements HasLine, HasExecCluster {
  readonly #parts: ClusterParts
  readonly #plain: PlainValues
  /** For the adapters of other clients. */
  readonly [LINE]: Line
  #closed: Promise<void> | undefined

  constructor(parts: ClusterParts) {
    this.#parts = parts
    this[LINE] = parts.line
    this.#plain = new PlainValues(parts.line)
  }

  /** For the adapters of other clients: those of another version do not take it. */
  get [MADE_BY](): string {
    return VERSION
  }

  /** The cluster as plugins see it. */
  get [EXEC_CLUSTER](): ExecCluster {
    const { connection, line } = this.#parts
    const { server, tls } = line.target
    const { cluster } = connection
    // Another login may lead to another server, of which only what requests need is known.
    const entry = server === cluster.server ? cluster : NO_TARGET
    return execCluster(
      { ...entry, server, insecureSkipTlsVerify: tls.insecure, tlsServerName: tls.serverName },
      tls.ca,
    )
  }

  /** The server's address, such as `https://10.0.0.1:6443`. */
  get server(): string {
    return this.#parts.line.target.server
  }

  /** The namespace to use where a request needs one. */
  get namespace(): string {
    return this.#parts.connection.namespace
  }

  /** What is odd about the configuration, as sentences for people. */
  get warnings(): readonly string[] {
    return this.#parts.connection.warnings
  }

  /**
   * Sends a request with the credential of this connection, like the global `fetch`.
   *
   * Takes a path, which is appended to the server's own, or a URL of this cluster. A caller's own
   * `Authorization` is sent in place of ours. Redirects are handed back, not followed, unless
   * `redirect: 'follow'` asks for it; a credential never goes to another origin.
   *
   * @throws {CredentialError} If no response was received; a response of 400 or more is a Response.
   */
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    fetchOver(this.#parts.line, input, init)

  /**
   * Hands out the credential itself, its secrets in boxes, for programs that must pass it on.
   *
   * Requests do not need it: `fetch` keeps it fresh, what is handed out here is not.
   */
  async credential({ signal }: { signal?: AbortSignal } = {}): Promise<ExposedCredential> {
    if (this.#closed !== undefined) throw new ClosedError()
    const { line } = this.#parts
    const { credential } = await line.leaseForCurrentServer(signal)
    const { expiresAt } = line.keeper.status()
    return { ...credential, ...(expiresAt !== undefined && { expiresAt }) }
  }

  /**
   * The headers that authenticate a request, for a client that no adapter fits. They are secrets.
   *
   * Ask for them before every request: that costs nothing while they are good. When the server answers 401,
   * say so with `reportRefused`; nobody else will.
   */
  headers({ signal }: { signal?: AbortSignal } = {}): Promise<Record<string, string | string[]>> {
    return this.#plain.headers(signal)
  }

  /**
   * What a TLS client needs: the CA, the name to check and, where there is one, our certificate with its key.
   *
   * Ask for it before every connection. A connection that is kept, or a TLS session that is resumed, stays with
   * the certificate it began with.
   */
  tlsOptions({ signal }: { signal?: AbortSignal } = {}): Promise<TlsOptions> {
    return this.#plain.tlsOptions(signal)
  }

  /**
   * Tells that the server refused what `headers` or `tlsOptions` gave, and waits for something better.
   *
   * All who report the same share one refresh. True means: ask for the values again and try once more.
   *
   * @param refused What was used. A copy will do, as an object, a `Headers`, pairs, or `{ headers }` of a request.
   * @throws {TypeError} When there is neither an authorization nor a cert in it.
   */
  reportRefused(
    refused: object,
    { status = 401, signal }: { status?: number; signal?: AbortSignal } = {},
  ): Promise<boolean> {
    return this.#plain.reportRefused(refused, status, signal)
  }

  /**
   * Fetches the credential anew, now. Requests go on with the old one until the new one is there.
   *
   * Nobody needs it to keep a credential fresh. It is for a person who has just changed something, and it does not
   * wait for the pause after a failure. The plugin cannot ask anybody while the old credential still serves.
   *
   * @throws {CredentialError} Why there is no new one.
   */
  async renew({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (this.#closed !== undefined) throw new ClosedError()
    await this.#parts.line.access.renew(signal)
  }

  /**
   * Drops the credential. Requests and streams in flight finish with it; the next request fetches another.
   *
   * Connections of this process with the same user share a credential: it is forgotten for all of them.
   */
  forget(): void {
    if (this.#closed !== undefined) throw new ClosedError()
    this.#parts.line.access.forget()
  }

  /**
   * Removes the secrets of this connection from a text, also where they are percent-encoded or in base64.
   *
   * For what a server sent, before it is shown or logged: a server can repeat the credential in any header or message.
   *
   * @param others Further secrets, such as those of a header that the caller sent.
   */
  hideSecrets(text: string, others: Iterable<Secret> = []): string {
    return hideSecrets(text, [...this.#parts.line.access.secrets, ...others])
  }

  /** How the credential is doing: plain data, no secrets. */
  status(): ClusterStatus {
    const { connection, line } = this.#parts
    const { context, cluster, user, namespace } = connection
    return {
      ...(context !== undefined && { context }),
      ...(cluster.name !== undefined && { cluster: cluster.name }),
      ...(user.name !== undefined && { user: user.name }),
      ...(user.impersonate !== undefined && { as: user.impersonate.user }),
      server: this.server,
      namespace,
      credential: line.keeper.status(),
    }
  }

  /** Ends the connection and everything on it: open responses fail, and a plugin that runs only for it is stopped. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { line, release, onClose } = this.#parts
    onClose()
    await Promise.all([line.close(), release()])
  }
}
