import { CallbackController } from '../../exchange/callback-controller.ts'
import { FEW_CONNECTIONS, type Sendable } from '../../exchange/exchange.ts'
import { Gate, type GateEntry } from '../../request/gate.ts'
import type { Pool } from './undici-module.ts'

/**
 * A pool with few connections, for short requests where each connection costs a signature.
 *
 * undici's own queue would do, but for responses that are never read: they would hold all connections, and waiting
 * requests would wait for ever. So requests wait here. A response that stays open for a while is not counted any more,
 * and another pool takes over, with connections of its own.
 */
export class FewConnections {
  readonly #makePool: () => Pool
  readonly #gate = new Gate({ requests: FEW_CONNECTIONS, streams: Number.POSITIVE_INFINITY })
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
