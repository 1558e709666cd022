import type { Readable } from 'node:stream'
import { ClosedError } from '../errors/index.ts'
import { Derived } from '../vault/derived.ts'
import type { Keeper } from '../vault/keeper.ts'
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
  readonly keeper: Keeper
  /** Headers of requests whose caller set none. */
  readonly defaults: HeaderValues
  readonly refreshOn: readonly number[]
  readonly limits: ConnectionLimits
  /** Loaded when first needed: the pool's code costs more to load than a single request to send. */
  readonly loadExchange: () => Promise<Exchange>
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
  readonly keeper: Keeper
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
  #isClosed = false

  constructor({ target, keeper, defaults, refreshOn, limits, loadExchange }: LineParts) {
    this.#target = target
    this.keeper = keeper
    this.defaults = defaults
    this.refreshOn = refreshOn
    this.#limits = limits
    this.#loadExchange = loadExchange
  }

  /** The server, and how to check it; another object when its CA changed. */
  get target(): Target {
    return this.#target
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
   * @param via How it travels; the connection's own way unless told.
   * @throws {CredentialError} When there is no answer, or the signal's reason.
   */
  send(place: Place, outgoing: Outgoing, via?: Exchange): Promise<Incoming> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      this.#send(place, outgoing, via).then(
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

  async #send(place: Place, outgoing: Outgoing, via: Exchange | undefined): Promise<Incoming> {
    this.checkOpen()
    const exchange = via ?? this.#exchange ?? (await this.#load())
    const route = this.#routes.get(exchange) ?? this.#openRoute(exchange)
    const hasOwn = outgoing.headers['authorization'] !== undefined
    const incoming = await (hasOwn
      ? plainSend(route, this.anonymous, place, outgoing)
      : authorizedSend(route, place, outgoing))
    if (this.#isClosed) end(incoming.body, new ClosedError())
    return incoming
  }

  async #load(): Promise<Exchange> {
    this.#exchange = await this.#loadExchange()
    return this.#exchange
  }

  #openRoute(exchange: Exchange): Route {
    const { keeper, refreshOn, defaults, checkOpen } = this
    const target = this.#target
    const { requests, streams } = this.#limits
    const gate = keeper.lasting.get(
      `gate ${requests} ${streams}`,
      target.key,
      () => new Gate(this.#limits),
    )
    const route: Route = {
      target,
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
