import { ClosedError } from '../errors/index.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import type { Credential } from '../protocol/credential.ts'
import { makeResponse } from '../transport/lazy-response.ts'
import { type HasLine, LINE, type Line } from '../transport/line.ts'
import { asRequest, makeOutgoing, type Outgoing } from '../transport/outgoing.ts'
import { followTo, isRedirect } from '../transport/redirect.ts'
import { findAnywhere, findPlace, pathOn } from '../transport/target.ts'
import type { KeeperStatus } from '../vault/status.ts'
import type { VaultStatus } from '../vault/vault-status.ts'
import { PlainValues, type TlsOptions } from './plain-values.ts'

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
export interface HandedOut extends Credential {
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
export class Cluster implements HasLine {
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
   * @throws {CredentialError} When no answer was had; an answer of 400 or more is a Response.
   */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { line } = this.#parts
    line.checkOpen()
    const url = asRequest(input)?.url ?? (input as string | URL)
    let { place, wish } = line.isOpenEnded
      ? findAnywhere(url)
      : { place: findPlace(url, line.target) }
    const made = makeOutgoing(input, init, line.defaults)
    const outgoing: Outgoing = made instanceof Promise ? await made : made
    let incoming = await line.send(place, outgoing, wish && { wish })
    let { target = line.target } = incoming
    for (let hops = 0; isRedirect(incoming) && init?.redirect !== undefined; hops += 1) {
      const next = followTo(incoming, place, {
        target,
        mode: init.redirect,
        method: outgoing.method,
        hops,
      })
      if (next === undefined) break
      incoming.body.resume()
      place = next
      wish = { origin: target.origin }
      incoming = await line.send(place, outgoing, { wish })
      target = incoming.target ?? line.target
    }
    return makeResponse(incoming, target.origin + pathOn(place, target))
  }

  /**
   * Hands out the credential itself, its secrets in boxes, for programs that must pass it on.
   *
   * Requests do not need it: `fetch` keeps it fresh, what is handed out here is not.
   */
  async credential({ signal }: { signal?: AbortSignal } = {}): Promise<HandedOut> {
    if (this.#closed !== undefined) throw new ClosedError()
    const { line } = this.#parts
    const { credential } = await line.leaseForNow(signal)
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
