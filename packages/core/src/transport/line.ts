import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import { ClosedError } from '../errors/index.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import type { Access, Wish } from '../vault/access.ts'
import { Derived } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import { pinnedAccess } from '../vault/pinned-access.ts'
import { authorizedSend, plainSend, type Route } from './authorized-send.ts'
import type { HeaderValues } from './default-headers.ts'
import type { ConnectionLimits, Exchange, Incoming } from './exchange.ts'
import { Gate } from './gate.ts'
import type { Outgoing } from './outgoing.ts'
import { type Aim, Servers } from './servers.ts'
import type { Place, Target } from './target.ts'

/** Where a connection keeps its line; a symbol all copies of this package know. */
export const LINE = Symbol.for('kubecred/line/1')

/** Something that has a line: a `Cluster`. */
export interface HasLine {
  readonly [LINE]: Line
}

/**
 * The line of a cluster.
 *
 * @param caller Whose argument it is, for the message.
 * @throws {TypeError} When it has none, as the promise of a cluster.
 */
export function lineOf(cluster: HasLine, caller: string): Line {
  const line = (cluster as HasLine | null | undefined)?.[LINE]
  if (line !== undefined) return line
  throw new TypeError(
    `${caller}() takes a Cluster, as connect() resolves to: did you forget to await connect()?`,
  )
}

export interface LineParts {
  readonly target: Target
  readonly keeper: Access
  /** Headers of requests whose caller set none. */
  readonly defaults: HeaderValues
  readonly refreshOn: readonly number[]
  readonly limits: ConnectionLimits
  /** Loaded when first needed: the pool's code costs more to load than a single request to send. */
  readonly loadExchange: () => Promise<Exchange>
  /** How to reach the server that a login names; for connections with login handlers. */
  readonly targetFor?: (endpoint: Endpoint) => Target
}

/** Something with an end of its own that must come no later than the connection's. */
export interface Endable {
  destroy(reason: Error): void | Promise<void>
}

/**
 * One identity's way to one server: what every transport sends through.
 *
 * `cluster.fetch` and the adapters for other people's clients differ in how a request comes in and how
 * the answer goes out. What is between is here, and only here.
 */
export class Line {
  /** For those who say which server they want. */
  readonly access: Access
  /** For the server of now. */
  readonly keeper: Access
  readonly refreshOn: readonly number[]
  readonly defaults: HeaderValues
  readonly #limits: ConnectionLimits
  readonly #loadExchange: () => Promise<Exchange>
  /** Connections for requests that bring their own credential: ours must not be on them. */
  readonly anonymous = new Derived()
  /** Bodies of responses that are still open. */
  readonly #open = new Set<Readable>()
  /** How to end requests that are not answered yet. */
  readonly #wire = new Set<(reason: Error) => void>()
  /** How to tell those who wait for an answer that there will be none. */
  readonly #waiting = new Set<(reason: Error) => void>()
  readonly #endables = new Set<Endable>()
  #routes = new Map<Exchange, Route>()
  #exchange: Exchange | undefined
  readonly #servers: Servers
  readonly #signals = new WeakSet<AbortSignal>()
  #isClosed = false

  constructor(parts: LineParts) {
    const { target, keeper, defaults, refreshOn, limits, loadExchange, targetFor } = parts
    this.#servers = new Servers(target, targetFor)
    this.access = keeper
    this.keeper = targetFor === undefined ? keeper : pinnedAccess(keeper, this.#servers)
    this.defaults = defaults
    this.refreshOn = refreshOn
    this.#limits = limits
    this.#loadExchange = loadExchange
  }

  /** The server, and how to check it; another object when its CA changed. With several, the one of now. */
  get target(): Target {
    return this.#servers.now
  }

  /** Whether the server is chosen with the credential: then a path belongs to no server yet. */
  get isOpenEnded(): boolean {
    return this.#servers.areOpen
  }

  /** The server of a credential. */
  targetOf(lease: Lease): Target {
    return this.#servers.of(lease)
  }

  /**
   * A credential for the server of now, for somebody who asks for the two apart.
   *
   * While one waits for a login, requests may move on to another server: then what came is not for that one.
   */
  async leaseForNow(signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      const lease = await this.keeper.lease(signal)
      if (!this.isOpenEnded || this.targetOf(lease).origin === this.target.origin) return lease
    }
  }

  /**
   * The server of a request that brings its own credential.
   *
   * Which servers there are, only logins say: where it is not the one of now, one of them is asked.
   *
   * @throws {ForeignOriginError} No login is for it.
   */
  targetFor(wish: Wish | undefined, signal?: AbortSignal): Target | Promise<Target> {
    const { target } = this
    if (!this.isOpenEnded || (wish?.origin ?? target.origin) === target.origin) return target
    const leased = this.access.lease(signal, wish)
    return leased instanceof Promise
      ? leased.then((lease) => this.targetOf(lease))
      : this.targetOf(leased)
  }

  /**
   * Finds where a request goes: a path is appended to the server's own, a URL must be of a server of ours.
   *
   * @throws {ForeignOriginError} Nothing was sent.
   */
  find(input: string | URL): Aim {
    return this.#servers.find(input)
  }

  /** What a request wants of its credentials, over all its tries. */
  wishOf(aim: Aim): Wish | undefined {
    return this.#servers.wishOf(aim)
  }

  /** Tells that the server took the credential of a request, and for which server that had to be. */
  readonly accept = (lease: Lease, wish?: Wish, date?: string | string[]): void => {
    this.access.accept(lease, date)
    const old = this.isOpenEnded ? this.#servers.follow(lease, wish) : undefined
    if (old !== undefined) void this.anonymous.leave(old.key)
  }

  /** What a client of somebody else gets on its requests: it did not say that it can read gzip. */
  get adapterHeaders(): HeaderValues {
    const { 'accept-encoding': _, ...rest } = this.defaults
    return rest
  }

  /** @throws {ClosedError} */
  readonly checkOpen = (): void => {
    if (this.#isClosed) throw new ClosedError()
  }

  /**
   * Sends a request with the credential, or with the caller's own if it brings one.
   *
   * `via` says how it travels: the connection's own way unless told. `wish` says for which server.
   *
   * @throws {CredentialError} When there is no answer, or the signal's reason.
   */
  send(
    place: Place,
    outgoing: Outgoing,
    { via, wish }: { via?: Exchange; wish?: Wish } = {},
  ): Promise<Incoming> {
    if (outgoing.signal !== undefined) this.#allowMany(outgoing.signal)
    const exchange = via ?? this.#exchange
    // The hot path makes as few promises as it can.
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      const sent =
        exchange === undefined
          ? this.#load().then((loaded) => this.#send(loaded, place, outgoing, wish))
          : this.#send(exchange, place, outgoing, wish)
      sent.then(
        (incoming) => {
          this.#waiting.delete(reject)
          if (this.#isClosed) end(incoming.body, new ClosedError())
          resolve(incoming)
        },
        (error: unknown) => {
          this.#waiting.delete(reject)
          reject(error)
        },
      )
    })
  }

  /** Sees to it that something ends with the connection. Returns how to call it off. */
  endWith(thing: Endable): () => void {
    this.#endables.add(thing)
    return () => void this.#endables.delete(thing)
  }

  /** Checks new connections in another way. What is open was accepted under the old one and finishes. */
  retarget(target: Target): void {
    const old = this.target
    this.#servers.now = target
    this.#routes = new Map()
    this.keeper.leave(old.key)
    void this.anonymous.leave(old.key)
  }

  /** Ends everything of this line, but not the keeper. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new ClosedError()
    for (const reject of this.#waiting) reject(closed)
    for (const abort of this.#wire) abort(closed)
    for (const body of this.#open) end(body, closed)
    await Promise.allSettled([
      this.anonymous.destroy(closed),
      ...[...this.#endables].map((thing) => thing.destroy(closed)),
    ])
  }

  #send(
    exchange: Exchange,
    place: Place,
    outgoing: Outgoing,
    wish: Wish | undefined,
  ): Promise<Incoming> {
    if (this.#isClosed) return Promise.reject(new ClosedError())
    const route = this.#routes.get(exchange) ?? this.#openRoute(exchange)
    const aim = wish === undefined ? { place } : { place, wish }
    return outgoing.headers['authorization'] === undefined
      ? authorizedSend(route, place, outgoing, this.wishOf(aim))
      : this.#sendPlain(route, aim, outgoing)
  }

  async #sendPlain(route: Route, { place, wish }: Aim, outgoing: Outgoing): Promise<Incoming> {
    const found = this.targetFor(wish, outgoing.signal)
    const target = found instanceof Promise ? await found : found
    return plainSend(route, { derived: this.anonymous, target }, place, outgoing)
  }

  /** One signal for all requests of a program is usual; Node takes it for a leak. */
  #allowMany(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return
    this.#signals.add(signal)
    setMaxListeners(0, signal)
  }

  async #load(): Promise<Exchange> {
    this.#exchange = await this.#loadExchange()
    return this.#exchange
  }

  #openRoute(exchange: Exchange): Route {
    const { refreshOn, defaults, checkOpen, accept, isOpenEnded, target, access: keeper } = this
    const { requests, streams } = this.#limits
    const gate = keeper.lasting.get(
      `gate ${requests} ${streams}`,
      target.key,
      () => new Gate(this.#limits),
    )
    const route: Route = {
      target,
      isOpenEnded,
      targetOf: this.#servers.of,
      keeper,
      accept,
      exchange,
      gate,
      refreshOn,
      defaults,
      copies: new WeakMap(),
      open: this.#open,
      wire: this.#wire,
      checkOpen,
    }
    this.#routes.set(exchange, route)
    return route
  }
}

/** Ends a body with an error for its reader, if it has one: without a listener the error would end the process. */
function end(body: Readable, reason: Error): void {
  body.on('error', () => {}).destroy(reason)
}
