import type { Readable } from 'node:stream'
import { ClosedError } from '../errors/index.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import type { Borrowed } from '../node/process-registry.ts'
import type { Credential } from '../protocol/credential.ts'
import { authorizedSend, plainSend, type Route } from '../transport/authorized-send.ts'
import type { HeaderValues } from '../transport/default-headers.ts'
import type { ConnectionLimits, Exchange } from '../transport/exchange.ts'
import { Gate } from '../transport/gate.ts'
import { makeResponse } from '../transport/lazy-response.ts'
import { asRequest, makeOutgoing, type Outgoing } from '../transport/outgoing.ts'
import { followTo, isRedirect } from '../transport/redirect.ts'
import { findPlace, type Place, type Target } from '../transport/target.ts'
import { Derived } from '../vault/derived.ts'
import type { KeeperStatus } from '../vault/status.ts'

/** How a connection is doing, as plain data without secrets. */
export interface ClusterStatus {
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  readonly server: string
  readonly namespace: string
  readonly credential: KeeperStatus
}

/** A credential on its way out of the library. */
export interface HandedOut extends Credential {
  /** Milliseconds since the epoch; undefined when it has no end. */
  readonly expiresAt?: number
}

export interface ClusterParts {
  readonly connection: Connection
  readonly target: Target
  readonly borrowed: Borrowed
  readonly headers: HeaderValues
  readonly refreshOn: readonly number[]
  readonly limits: ConnectionLimits
  readonly transport: 'pool' | 'https'
  /** Called once when the connection ends. */
  readonly onClose: () => void
}

/**
 * A connection to one cluster under one identity.
 *
 * Made by `connect()`. Nothing is sent and no plugin runs before the first request.
 */
export class Cluster {
  readonly #parts: ClusterParts
  /** Connections for requests that bring their own credential: ours must not be on them. */
  readonly #anonymous = new Derived()
  /** Bodies of responses that are still open. */
  readonly #open = new Set<Readable>()
  /** How to tell those who wait for an answer that there will be none. */
  readonly #waiting = new Set<(reason: Error) => void>()
  #target: Target
  #route: Route | undefined
  #closed: Promise<void> | undefined

  constructor(parts: ClusterParts) {
    this.#parts = parts
    this.#target = parts.target
  }

  /** The server's address, such as `https://10.0.0.1:6443`. */
  get server(): string {
    return this.#target.server
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
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      this.#fetch(input, init).then(
        (response) => {
          this.#waiting.delete(reject)
          resolve(response)
        },
        (error: unknown) => {
          this.#waiting.delete(reject)
          reject(error)
        },
      )
    })

  async #fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    if (this.#closed !== undefined) throw new ClosedError()
    const target = this.#target
    let place = findPlace(asRequest(input)?.url ?? (input as string | URL), target)
    const made = makeOutgoing(input, init, this.#parts.headers)
    const outgoing: Outgoing = made instanceof Promise ? await made : made
    const hasOwn = outgoing.headers['authorization'] !== undefined
    const route = this.#route ?? (await this.#openRoute())
    const send = (to: Place) =>
      hasOwn ? plainSend(route, this.#anonymous, to, outgoing) : authorizedSend(route, to, outgoing)
    let incoming = await send(place)
    if (this.#closed !== undefined) end(incoming.body, new ClosedError())
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
      incoming = await send(place)
    }
    return makeResponse(incoming, target.origin + place.pathname + place.search)
  }

  /**
   * Hands out the credential itself, its secrets in boxes, for programs that must pass it on.
   *
   * Requests do not need it: `fetch` keeps it fresh, what is handed out here is not.
   */
  async credential({ signal }: { signal?: AbortSignal } = {}): Promise<HandedOut> {
    if (this.#closed !== undefined) throw new ClosedError()
    const { keeper } = this.#parts.borrowed
    const { credential } = await keeper.lease(signal)
    const { expiresAt } = keeper.status()
    return { ...credential, ...(expiresAt !== undefined && { expiresAt }) }
  }

  /** How the credential is doing: plain data, no secrets. */
  status(): ClusterStatus {
    const { connection, borrowed } = this.#parts
    const { context, cluster, user, namespace } = connection
    return {
      ...(context !== undefined && { context }),
      ...(cluster.name !== undefined && { cluster: cluster.name }),
      ...(user.name !== undefined && { user: user.name }),
      server: this.server,
      namespace,
      credential: borrowed.keeper.status(),
    }
  }

  /**
   * Checks new connections against another CA. What is open was accepted under the old one and goes on.
   *
   * @internal
   */
  retarget(target: Target): void {
    this.#target = target
    this.#route = undefined
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
    this.#parts.onClose()
    const closed = new ClosedError()
    for (const reject of this.#waiting) reject(closed)
    for (const body of this.#open) end(body, closed)
    await Promise.all([this.#anonymous.destroy(closed), this.#parts.borrowed.release()])
  }

  async #openRoute(): Promise<Route> {
    const { borrowed, refreshOn, limits, headers: defaults } = this.#parts
    const target = this.#target
    const { keeper } = borrowed
    const exchange = await this.#loadExchange()
    const { requests, streams } = limits
    const key = `gate ${requests} ${streams} ${target.key}`
    const gate = keeper.lasting.get(key, () => new Gate(limits))
    this.#route = {
      target,
      keeper,
      exchange,
      gate,
      refreshOn,
      defaults,
      copies: new WeakMap(),
      open: this.#open,
      checkOpen: () => {
        if (this.#closed !== undefined) throw new ClosedError()
      },
    }
    return this.#route
  }

  /** Loaded when first needed: the pool's code costs more to load than a single request to send. */
  async #loadExchange(): Promise<Exchange> {
    if (this.#parts.transport === 'https') {
      const { httpsExchange } = await import('../transport/https-exchange.ts')
      return httpsExchange()
    }
    const { undiciExchange } = await import('../transport/undici-exchange.ts')
    return undiciExchange(this.#parts.limits)
  }
}

/** Ends a body with an error for its reader, if it has one: without a listener the error would end the process. */
function end(body: Readable, reason: Error): void {
  body.on('error', () => {}).destroy(reason)
}
