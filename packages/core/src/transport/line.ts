import type { Readable } from 'node:stream'
import { ClosedError, ForeignOriginError } from '../errors/index.ts'
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
  /** For the server of now. */
  readonly keeper: Access
  readonly #access: Access
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
  #target: Target
  readonly #targetFor: LineParts['targetFor']
  readonly #targets = new WeakMap<Endpoint, Target>()
  #isClosed = false

  constructor(parts: LineParts) {
    const { target, keeper, defaults, refreshOn, limits, loadExchange, targetFor } = parts
    this.#target = target
    this.#access = keeper
    this.keeper = targetFor === undefined ? keeper : pinnedAccess(keeper, () => this.#target.origin)
    this.defaults = defaults
    this.refreshOn = refreshOn
    this.#limits = limits
    this.#loadExchange = loadExchange
    this.#targetFor = targetFor
  }

  /** The server, and how to check it; another object when its CA changed. */
  get target(): Target {
    return this.#target
  }

  /** Whether the server is chosen with the credential: then a path belongs to no server yet. */
  get isOpenEnded(): boolean {
    return this.#targetFor !== undefined
  }

  /** The server of a credential. */
  readonly targetOf = ({ endpoint }: Pick<Lease, 'endpoint'>): Target => {
    if (endpoint === undefined || this.#targetFor === undefined) return this.#target
    const target = this.#targets.get(endpoint) ?? this.#targetFor(endpoint)
    this.#targets.set(endpoint, target)
    // What adapters take for the server is where requests go now.
    this.#target = target
    return target
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
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      this.#send(place, outgoing, via, wish).then(
        (incoming) => {
          this.#waiting.delete(reject)
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
    const old = this.#target
    this.#target = target
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

  async #send(
    place: Place,
    outgoing: Outgoing,
    via: Exchange | undefined,
    wish: Wish | undefined,
  ): Promise<Incoming> {
    this.checkOpen()
    const exchange = via ?? this.#exchange ?? (await this.#load())
    const route = this.#routes.get(exchange) ?? this.#openRoute(exchange)
    const hasOwn = outgoing.headers['authorization'] !== undefined
    if (hasOwn) this.#checkOwn(wish)
    const incoming = await (hasOwn
      ? plainSend(route, this.anonymous, place, outgoing)
      : authorizedSend(route, place, outgoing, wish ?? this.#ownWish(place)))
    if (this.#isClosed) end(incoming.body, new ClosedError())
    return incoming
  }

  /** Without a login to choose, a request with its own credential can only go to the server of now. */
  #checkOwn({ origin }: Wish = {}): void {
    if (origin === undefined || origin === this.#target.origin) return
    throw new ForeignOriginError(`${origin} is not the server of now (${this.#target.origin})`)
  }

  /** A path that is already of a server must not go to another. */
  #ownWish({ isRelative }: Place): Wish | undefined {
    return this.isOpenEnded && !isRelative ? { origin: this.#target.origin } : undefined
  }

  async #load(): Promise<Exchange> {
    this.#exchange = await this.#loadExchange()
    return this.#exchange
  }

  #openRoute(exchange: Exchange): Route {
    const { refreshOn, defaults, checkOpen, targetOf } = this
    const keeper = this.#access
    const target = this.#target
    const { requests, streams } = this.#limits
    const gate = keeper.lasting.get(
      `gate ${requests} ${streams}`,
      target.key,
      () => new Gate(this.#limits),
    )
    const route: Route = {
      target,
      targetOf,
      keeper,
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
