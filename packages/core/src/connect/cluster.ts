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
import { ExposedValues, type TlsOptions } from './exposed-credential.ts'
import { execCluster } from './open-keeper.ts'

/** The status of a connection, as plain data without secrets. */
export interface ClusterStatus {
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  /** The user that all requests impersonate. With login handlers, see the status of each login. */
  readonly as?: string
  readonly server: string
  readonly namespace: string
  /** The credential's status; with a vault, that of all login handlers. */
  readonly credential: KeeperStatus | VaultStatus
}

/** What `cluster.credential()` returns: the credential and its expiry. */
export interface ExposedCredential extends Credential {
  /** Milliseconds since the epoch; absent if the credential has no known expiry. */
  readonly expiresAt?: number
}

/** What `connect()` makes a cluster of. */
export interface ClusterParts {
  readonly connection: Connection
  readonly line: Line
  /** Releases the keeper or vault; the last connection to do so closes it. */
  readonly release: () => Promise<void>
  /** Called once when the connection ends. */
  readonly onClose: () => void
}

/**
 * A connection to one cluster with one identity.
 *
 * Made by `connect()`. No request is sent and no plugin runs before the first request.
 *
 * @example
 * await using cluster = await connect()
 * const response = await cluster.fetch('/api/v1/pods')
 * console.log(cluster.server, response.status)
 */
export class Cluster implements HasLine, HasExecCluster {
  readonly #parts: ClusterParts
  readonly #exposed: ExposedValues
  /** For the adapters of other clients. */
  readonly [LINE]: Line
  #closed: Promise<void> | undefined

  constructor(parts: ClusterParts) {
    this.#parts = parts
    this[LINE] = parts.line
    this.#exposed = new ExposedValues(parts.line)
  }

  /** For the adapters: those of another version of this package reject it. */
  get [MADE_BY](): string {
    return VERSION
  }

  /** The cluster in the form that plugins receive. */
  get [EXEC_CLUSTER](): ExecCluster {
    const { connection, line } = this.#parts
    const { server, tls } = line.target
    const { cluster } = connection
    // Another login may be for another server, of which only server and TLS options are known.
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

  /** The namespace of the context, else `default`. */
  get namespace(): string {
    return this.#parts.connection.namespace
  }

  /** Warnings about the configuration, as sentences. */
  get warnings(): readonly string[] {
    return this.#parts.connection.warnings
  }

  /**
   * Sends a request with the credential of this connection, like the global `fetch`.
   *
   * Takes a path, which is appended to that of the server, or a URL of this cluster. If the caller sets `Authorization`,
   * that is sent instead. Redirects are returned, and followed only with `redirect: 'follow'`; a credential is never
   * sent to another origin.
   *
   * @throws {CredentialError} If no response was received. A status of 400 or more is not an error.
   *
   * @example
   * const response = await cluster.fetch('/api/v1/namespaces/default/pods', { signal: AbortSignal.timeout(5000) })
   */
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    fetchOver(this.#parts.line, input, init)

  /**
   * Returns the credential itself, for programs that must pass it on. Its secrets are `Secret` objects.
   *
   * Requests do not need it. Unlike the credential that `fetch` uses, the returned one is not kept fresh.
   *
   * @throws {CredentialError} If no credential is available.
   *
   * @example
   * const { token, expiresAt } = await cluster.credential()
   * const bearer = token?.expose()
   */
  async credential({ signal }: { signal?: AbortSignal } = {}): Promise<ExposedCredential> {
    if (this.#closed !== undefined) throw new ClosedError()
    const { line } = this.#parts
    const { credential } = await line.leaseForCurrentServer(signal)
    const { expiresAt } = line.keeper.status()
    return { ...credential, ...(expiresAt !== undefined && { expiresAt }) }
  }

  /**
   * Returns the headers that authenticate a request, for HTTP clients without an adapter. They are secrets.
   *
   * Call it before every request: it is cheap while the credential is fresh. If the server responds 401, you must call
   * `reportRefused`, because kubecred does not see the response.
   *
   * @throws {CredentialError} If no credential is available.
   *
   * @example
   * const headers = await cluster.headers()
   * const status = await send(headers)
   * if (status === 401 && (await cluster.reportRefused(headers))) await send(await cluster.headers())
   */
  headers({ signal }: { signal?: AbortSignal } = {}): Promise<Record<string, string | string[]>> {
    return this.#exposed.headers(signal)
  }

  /**
   * Returns the TLS options for a connection to the server: its CA, the name to verify and, if there is one, the client
   * certificate with its key.
   *
   * Call it before every connection. A kept connection, or a resumed TLS session, keeps the certificate it started with.
   *
   * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if the private key is not in this process.
   *
   * @example
   * const agent = new https.Agent(await cluster.tlsOptions())
   */
  tlsOptions({ signal }: { signal?: AbortSignal } = {}): Promise<TlsOptions> {
    return this.#exposed.tlsOptions(signal)
  }

  /**
   * Reports that the server refused what `headers` or `tlsOptions` returned, and waits for another credential.
   *
   * Reports of the same credential share one refresh. If it returns true, get the values again and retry once.
   *
   * @param refused What was used, or a copy: an object, a `Headers`, pairs, or the `{ headers }` of a request.
   * @throws {TypeError} If it has neither an authorization nor a cert.
   */
  reportRefused(
    refused: object,
    { status = 401, signal }: { status?: number; signal?: AbortSignal } = {},
  ): Promise<boolean> {
    return this.#exposed.reportRefused(refused, status, signal)
  }

  /**
   * Acquires a new credential now. Requests use the old one until it arrives.
   *
   * Not needed to keep a credential fresh. It is for a user who has just changed something, such as a role, and ignores
   * the back-off after a failure. The plugin runs without a terminal while the old credential is still valid.
   *
   * @throws {CredentialError} If no new credential was acquired.
   */
  async renew({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (this.#closed !== undefined) throw new ClosedError()
    await this.#parts.line.access.renew(signal)
  }

  /**
   * Drops the credential. Requests and streams in flight finish with it; the next request acquires another.
   *
   * Connections of this process with the same user share a credential: it is dropped for all of them.
   */
  forget(): void {
    if (this.#closed !== undefined) throw new ClosedError()
    this.#parts.line.access.forget()
  }

  /**
   * Removes the secrets of this connection from a text, including percent-encoded and base64 forms.
   *
   * Use it before showing or logging what a server sent: a server can repeat the credential in any header or message.
   *
   * @param others Further secrets, such as those of a header that the caller sent.
   *
   * @example
   * console.error(cluster.hideSecrets(await response.text()))
   */
  hideSecrets(text: string, others: Iterable<Secret> = []): string {
    return hideSecrets(text, [...this.#parts.line.access.secrets, ...others])
  }

  /** Returns the status of the connection, as plain data without secrets. */
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

  /** Closes the connection. Open responses fail, and a plugin that runs only for this connection is stopped. */
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
