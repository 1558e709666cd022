import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { CertificatePair } from '../../credential/credential.ts'
import { dial } from '../../dial/dial.ts'
import { LeaseSockets } from '../../dial/lease-sockets.ts'
import type { Target } from '../../dial/target.ts'
import { MAX_SIGNING_CONNECTIONS, type Sendable } from '../../exchange/exchange.ts'
import { CallbackController, type Handler, NoResponseError } from '../../exchange/handler.ts'
import { Alerts } from '../../exchange/tls-alerts.ts'
import type { Closable } from '../../keeper/resource-cache.ts'
import { Gate, type GateEntry } from '../../request/gate.ts'
import { DualHandler } from './cross-version-handler.ts'
import type { UserPools } from './dispatch.ts'
import type {
  ConnectCallback,
  DispatchOptions,
  Pool,
  PoolOptions,
  Undici,
} from './dispatcher-options.ts'

/**
 * How many requests an HTTP/2 client of undici 8 may have while it has no connection.
 *
 * When the server takes one away, as the API server does after a 401, and a watch still runs on it, a
 * client with the default of 1 would not open another before the watch ends.
 */
const WHILE_RECONNECTING = 1000

/** The server does not speak HTTP/2: nothing was sent. */
class OnlyHttp1Error extends NoResponseError {
  readonly code = 'ERR_ONLY_HTTP1'

  constructor() {
    super('unprocessed', new Error('the server does not speak HTTP/2'))
  }
}

/** What pools are made for and of. */
interface PoolsParts {
  readonly undici: Undici
  readonly target: Target
  readonly certificate: CertificatePair | undefined
  readonly options: PoolOptions
  /** Called with each new pool. */
  readonly onPool: (pool: Pool) => void
  /** Called when all of them have ended. */
  readonly onEnd: () => void
}

/** Pools of the user's undici under one identity to one server; the connections are made by our dialer. */
export class Pools implements UserPools, Closable {
  readonly alerts = new Alerts()
  readonly #parts: PoolsParts
  /** For what HTTP/2 can carry, if it may. */
  #http2: Pool | undefined
  /** For everything else: the API server knows upgrades only in HTTP/1.1. */
  #http1: Pool | undefined
  /** For what is short, where each connection costs a signature. What stays open has the other ones. */
  readonly #few: FewConnections | undefined
  #isHttp1Only = false
  /** Connections on which HTTP/2 was offered in vain. */
  readonly #spare: Socket[] = []
  readonly #upgraded = new LeaseSockets()
  #closed: Promise<void> | undefined
  /** Aborted when the pools have ended: undici would let a connection that is being made go on. */
  readonly #dialing = new AbortController()

  constructor(parts: PoolsParts) {
    this.#parts = parts
    this.#few = isCostly(parts) ? new FewConnections(() => this.#makeShort()) : undefined
    setMaxListeners(0, this.#dialing.signal)
  }

  dispatch(call: Sendable, options: DispatchOptions, user: Handler): void {
    const onUpgrade = (socket: Duplex): void => this.#upgraded.add(socket)
    if (this.#few === undefined || options.upgrade || call.isStream) {
      this.#poolFor(options).dispatch(options, new DualHandler(call, user, { onUpgrade }))
      return
    }
    this.#few.enter(call, (pool, onDone) =>
      pool.dispatch(options, new DualHandler(call, user, { onUpgrade, onDone })),
    )
  }

  /** Requests in flight and connections that were handed over finish first, however long they last. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Ends what is not used; what was handed over stays with its user. */
  async closePools(): Promise<void> {
    await Promise.allSettled(this.#pools().map((pool) => pool.close()))
  }

  async destroy(reason: Error): Promise<void> {
    this.#few?.destroy(reason)
    const ended = Promise.allSettled(this.#pools().map((pool) => pool.destroy(reason)))
    this.#dialing.abort(reason)
    for (const socket of this.#spare) socket.destroy()
    this.#upgraded.destroy(reason)
    await ended
    this.#parts.onEnd()
  }

  async #close(): Promise<void> {
    // A request may have been given the lease just now and be on its way to `dispatch`.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#few?.whenIdle()
    await this.closePools()
    for (const socket of this.#spare) socket.destroy()
    this.#dialing.abort()
    await this.#upgraded.close()
    this.#parts.onEnd()
  }

  #poolFor({ upgrade, allowH2, headers }: DispatchOptions): Pool {
    const { target, options } = this.#parts
    const mayUseHttp2 = options.allowH2 && !this.#isHttp1Only && target.origin.startsWith('https:')
    if (mayUseHttp2 && !upgrade && allowH2 !== false && !hasLists(headers)) {
      this.#http2 ??= this.#makePool({ ...options, pipelining: WHILE_RECONNECTING }, (callback) =>
        this.#dialHttp2(callback),
      )
      return this.#http2
    }
    const rest = this.#few && options.connections && options.connections - MAX_SIGNING_CONNECTIONS
    const others = { ...options, allowH2: false, ...(rest && { connections: rest }) }
    this.#http1 ??= this.#makePool(others, (callback) => {
      const spare = this.#spare.pop()
      // Later, as a dialer would: undici does not go on with what is called back at once.
      if (spare?.destroyed === false) queueMicrotask(() => callback(null, spare))
      else this.#dial(['http/1.1'], callback)
    })
    return this.#http1
  }

  #makeShort(): Pool {
    const options = { ...this.#parts.options, allowH2: false, connections: MAX_SIGNING_CONNECTIONS }
    return this.#makePool(options, (callback) => this.#dial(['http/1.1'], callback))
  }

  #pools(): Pool[] {
    const all = [this.#http2, this.#http1, ...(this.#few?.pools ?? [])]
    return all.filter((pool) => pool !== undefined)
  }

  #makePool(options: object, connect: (callback: ConnectCallback) => void): Pool {
    const { undici, target, onPool } = this.#parts
    const pool = new undici.Pool(target.origin, {
      ...options,
      connect: (_: unknown, callback: ConnectCallback) => connect(callback),
    })
    onPool(pool)
    return pool
  }

  /** A server that does not speak HTTP/2 is left to the other pool: this one would pipeline. */
  #dialHttp2(callback: ConnectCallback): void {
    this.#dial(['h2', 'http/1.1'], (error, socket) => {
      if (socket === null || (socket as TLSSocket).alpnProtocol === 'h2') {
        callback(error, socket)
        return
      }
      this.#isHttp1Only = true
      this.#spare.push(socket)
      callback(new OnlyHttp1Error(), null)
    })
  }

  #dial(protocols: string[], callback: ConnectCallback): void {
    const { target, certificate } = this.#parts
    dial(target, certificate, { signal: this.#dialing.signal, protocols }).then(
      (socket) => callback(null, this.alerts.watch(socket)),
      (error: Error) => callback(error, null),
    )
  }
}

/** Whether a header is there more than once. In HTTP/2 undici makes one of them, and two groups a third one. */
function hasLists(headers: unknown): boolean {
  return Object.values(headers ?? {}).some((value) => Array.isArray(value) && value.length > 1)
}

/** Whether connections must be spared; not where the caller has said how many there may be, and that is few already. */
function isCostly({ certificate, options: { connections = Infinity } }: PoolsParts): boolean {
  return certificate?.signingKey !== undefined && connections > MAX_SIGNING_CONNECTIONS
}

/**
 * A pool with few connections, for short requests where each connection costs a signature.
 *
 * undici's own queue would do, but for responses that are never read: they would hold all connections, and waiting
 * requests would wait for ever. So requests wait here. A response that stays open for a while is not counted any more,
 * and another pool takes over, with connections of its own.
 */
export class FewConnections {
  readonly #makePool: () => Pool
  readonly #gate = new Gate({
    requests: MAX_SIGNING_CONNECTIONS,
    streams: Number.POSITIVE_INFINITY,
  })
  readonly #waiting = new Set<AbortController>()
  readonly #onIdle: (() => void)[] = []
  #pool: Pool | undefined
  #round = 0
  /** Pools that were replaced and are not done yet. */
  readonly #left = new Set<Pool>()

  constructor(makePool: () => Pool) {
    this.#makePool = makePool
  }

  get pools(): readonly Pool[] {
    return this.#pool === undefined ? [...this.#left] : [this.#pool, ...this.#left]
  }

  /**
   * Gives a pool when it is the turn of a request: now, if there is a place.
   *
   * @param begin Sends it; `leave` is to be called when its connection is free again.
   */
  enter(call: Sendable, begin: (pool: Pool, leave: () => void) => void): void {
    const gone = new AbortController()
    const place = this.#gate.enter(gone.signal)
    if (!(place instanceof Promise)) {
      this.#begin(place, begin)
      return
    }
    const waiting = new CallbackController({
      onAbort: (reason) => gone.abort(reason),
      onPause() {},
      onResume() {},
    })
    this.#waiting.add(gone)
    call.onRequestStart(waiting, null)
    place
      .then((entry) => this.#begin(entry, begin))
      .catch((error: Error) => call.onResponseError(waiting, error))
      .finally(() => this.#noteGone(gone))
  }

  /** Resolves when no request waits. */
  async whenIdle(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** Rejects waiting requests. The pools themselves are ended elsewhere. */
  destroy(reason: Error): void {
    for (const gone of this.#waiting) gone.abort(reason)
    this.#gate.destroy()
  }

  #begin(entry: GateEntry, begin: (pool: Pool, leave: () => void) => void): void {
    const leave = (): void => this.#gate.leave(entry)
    try {
      begin(this.#currentPool(), leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  #currentPool(): Pool {
    const { round } = this.#gate
    if (round !== this.#round && this.#pool !== undefined) this.#leave(this.#pool)
    this.#round = round
    this.#pool ??= this.#makePool()
    return this.#pool
  }

  /** Lets a pool end with the answers that hold it. */
  #leave(pool: Pool): void {
    this.#pool = undefined
    this.#left.add(pool)
    const forget = (): void => void this.#left.delete(pool)
    pool.close().then(forget, forget)
  }

  #noteGone(gone: AbortController): void {
    this.#waiting.delete(gone)
    if (this.#waiting.size === 0) for (const tell of this.#onIdle.splice(0)) tell()
  }
}
