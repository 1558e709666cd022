import { Gate, type Passage } from '../../transport/gate.ts'
import type { Attempt } from './attempt.ts'
import type { Pool } from './undici-module.ts'

/** How many connections short requests get where each costs a signature. */
export const FEW_CONNECTIONS = 4

/**
 * A pool with few connections, for short requests where each connection costs a signature.
 *
 * undici's own queue would do, but for answers that nobody reads: they would hold all connections, and who waits for
 * one would wait for ever. So requests wait here. An answer that stays open for a while is not counted any more, and
 * another pool takes over, with connections that nobody holds.
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

  /** Gives a pool when it is the turn of a request: now, if there is a place. What goes wrong later is told to it. */
  enter(attempt: Attempt, begin: (pool: Pool) => void): void {
    const gone = new AbortController()
    const place = this.#gate.enter(gone.signal)
    if (!(place instanceof Promise)) {
      this.#begin(attempt, place, begin)
      return
    }
    this.#waiting.add(gone)
    attempt.leave = (reason) => gone.abort(reason)
    place
      .then((passage) => this.#begin(attempt, passage, begin))
      .catch((error: Error) => attempt.onResponseError(null, error))
      .finally(() => this.#noteGone(gone))
  }

  /** Resolves when nobody waits. */
  async whenIdle(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** Tells those who wait that they wait in vain. The pools are for somebody else to end. */
  destroy(reason: Error): void {
    for (const gone of this.#waiting) gone.abort(reason)
    this.#gate.destroy()
  }

  #begin(attempt: Attempt, passage: Passage, begin: (pool: Pool) => void): void {
    attempt.done = () => passage.done()
    try {
      begin(this.#poolOfNow())
    } catch (error) {
      passage.done()
      throw error
    }
  }

  #poolOfNow(): Pool {
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
