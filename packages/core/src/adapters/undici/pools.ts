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
import { TlsAlerts } from '../../exchange/tls-alerts.ts'
import type { Closable } from '../../keeper/resource-cache.ts'
import { Gate, type GateEntry } from '../../request/gate.ts'
import { CrossVersionHandler } from './cross-version-handler.ts'
import type { UserPools } from './dispatch.ts'
import type {
  ConnectCallback,
  DispatchOptions,
  Pool,
  PoolOptions,
  Undici,
} from './dispatcher-options.ts'

/**
 * How many requests an HTTP/2 client of undici 8 may have without a connection.
 *
 * When the server sends GOAWAY, as the API server does after a 401, and a watch is still open on the connection, a client
 * with the default of 1 would not open another connection before the watch ends.
 */
const MAX_REQUESTS_WHILE_RECONNECTING = 1000

/** Says that the server does not support HTTP/2, and nothing was sent. */
class OnlyHttp1Error extends NoResponseError {
  readonly code = 'ERR_ONLY_HTTP1'

  constructor() {
    super('unprocessed', new Error('the server does not support HTTP/2'))
  }
}

interface PoolsParts {
  readonly undici: Undici
  readonly target: Target
  readonly certificate: CertificatePair | undefined
  readonly options: PoolOptions
  /** Called with each new pool. */
  readonly onPool: (pool: Pool) => void
  /** Called when all pools have ended. */
  readonly onEnd: () => void
}

/** Pools of the user's undici with one identity to one server, whose connections are made by `dial`. */
export class Pools implements UserPools, Closable {
  readonly alerts = new TlsAlerts()
  readonly #parts: PoolsParts
  /** For requests that can use HTTP/2, if it is allowed. */
  #http2: Pool | undefined
  /** For all others: the API server supports upgrades only over HTTP/1.1. */
  #http1: Pool | undefined
  /** For short requests with a signing key, where each connection needs a signature. Streams use the pools above. */
  readonly #limited: LimitedPool | undefined
  #isHttp1Only = false
  /** Connections on which the server did not select HTTP/2; the HTTP/1.1 pool uses them. */
  readonly #spare: Socket[] = []
  readonly #upgraded = new LeaseSockets()
  #closed: Promise<void> | undefined
  /** Aborted when the pools have ended: undici itself does not stop a connection that is being made. */
  readonly #dialing = new AbortController()

  constructor(parts: PoolsParts) {
    this.#parts = parts
    this.#limited = needsLimit(parts) ? new LimitedPool(() => this.#makeShort()) : undefined
    setMaxListeners(0, this.#dialing.signal)
  }

  dispatch(call: Sendable, options: DispatchOptions, user: Handler): void {
    const onUpgrade = (socket: Duplex): void => this.#upgraded.add(socket)
    if (this.#limited === undefined || options.upgrade || call.isStream) {
      this.#poolFor(options).dispatch(options, new CrossVersionHandler(call, user, { onUpgrade }))
      return
    }
    this.#limited.enter(call, (pool, onDone) =>
      pool.dispatch(options, new CrossVersionHandler(call, user, { onUpgrade, onDone })),
    )
  }

  /** Closes after requests in flight and upgraded connections have ended, however long they last. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Closes the pools after their requests; upgraded connections stay open. */
  async closePools(): Promise<void> {
    await Promise.allSettled(this.#pools().map((pool) => pool.close()))
  }

  async destroy(reason: Error): Promise<void> {
    this.#limited?.destroy(reason)
    const ended = Promise.allSettled(this.#pools().map((pool) => pool.destroy(reason)))
    this.#dialing.abort(reason)
    for (const socket of this.#spare) socket.destroy()
    this.#upgraded.destroy(reason)
    await ended
    this.#parts.onEnd()
  }

  async #close(): Promise<void> {
    // A request may have just received the lease and not have called `dispatch` yet.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#limited?.whenIdle()
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
      this.#http2 ??= this.#makePool(
        { ...options, pipelining: MAX_REQUESTS_WHILE_RECONNECTING },
        (callback) => this.#dialHttp2(callback),
      )
      return this.#http2
    }
    const rest =
      this.#limited && options.connections && options.connections - MAX_SIGNING_CONNECTIONS
    const others = { ...options, allowH2: false, ...(rest && { connections: rest }) }
    this.#http1 ??= this.#makePool(others, (callback) => {
      const spare = this.#spare.pop()
      // Asynchronously, because undici ignores a callback that is called at once.
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
    const all = [this.#http2, this.#http1, ...(this.#limited?.pools ?? [])]
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

  /** Leaves a server without HTTP/2 to the other pool, because this one would pipeline. */
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

/** Whether a header occurs more than once. Over HTTP/2 undici joins the values, which makes one group out of two. */
function hasLists(headers: unknown): boolean {
  return Object.values(headers ?? {}).some((value) => Array.isArray(value) && value.length > 1)
}

/** Whether connections must be limited: with a signing key, unless the caller's own limit is at least as low. */
function needsLimit({ certificate, options: { connections = Infinity } }: PoolsParts): boolean {
  return certificate?.signingKey !== undefined && connections > MAX_SIGNING_CONNECTIONS
}

/**
 * A pool with few connections, for short requests where each connection needs a signature.
 *
 * undici's own queue is not enough: responses that are never read would hold all connections, and waiting requests would
 * wait forever. So requests wait here. A response that stays open for some time is no longer counted, and a new pool,
 * with its own connections, takes over.
 */
export class LimitedPool {
  readonly #makePool: () => Pool
  readonly #gate = new Gate({
    requests: MAX_SIGNING_CONNECTIONS,
    streams: Number.POSITIVE_INFINITY,
  })
  readonly #waiting = new Set<AbortController>()
  readonly #onIdle: (() => void)[] = []
  #pool: Pool | undefined
  #round = 0
  /** Replaced pools that have not closed yet. */
  readonly #replaced = new Set<Pool>()

  constructor(makePool: () => Pool) {
    this.#makePool = makePool
  }

  get pools(): readonly Pool[] {
    return this.#pool === undefined ? [...this.#replaced] : [this.#pool, ...this.#replaced]
  }

  /**
   * Calls `begin` when there is a place for the request: now, or when its turn comes.
   *
   * @param begin Sends the request, and calls `leave` when its connection is free again.
   */
  enter(call: Sendable, begin: (pool: Pool, leave: () => void) => void): void {
    const gone = new AbortController()
    const entry = this.#gate.enter(gone.signal)
    if (!(entry instanceof Promise)) {
      this.#begin(entry, begin)
      return
    }
    const waiting = new CallbackController({
      onAbort: (reason) => gone.abort(reason),
      onPause() {},
      onResume() {},
    })
    this.#waiting.add(gone)
    call.onRequestStart(waiting, null)
    entry
      .then((late) => this.#begin(late, begin))
      .catch((error: Error) => call.onResponseError(waiting, error))
      .finally(() => this.#stopWaiting(gone))
  }

  /** Resolves when no request waits. */
  async whenIdle(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** Rejects waiting requests. The owner ends the pools themselves. */
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
    if (round !== this.#round && this.#pool !== undefined) this.#replace(this.#pool)
    this.#round = round
    this.#pool ??= this.#makePool()
    return this.#pool
  }

  /** Lets a pool close after its responses. */
  #replace(pool: Pool): void {
    this.#pool = undefined
    this.#replaced.add(pool)
    const forget = (): void => void this.#replaced.delete(pool)
    pool.close().then(forget, forget)
  }

  #stopWaiting(gone: AbortController): void {
    this.#waiting.delete(gone)
    if (this.#waiting.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}
