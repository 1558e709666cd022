import { LoginQueueFullError } from '../errors/index.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import type { Clock } from '../ports/clock.ts'
import type { Report } from '../sources/source.ts'

/** Requests that wait for a login: a limited number, each for a limited time. */
export class FrozenQueue {
  readonly #clock: Clock
  readonly #max: number
  readonly #queue = new AbortableQueue<void>()

  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  get size(): number {
    return this.#queue.size
  }

  get isFull(): boolean {
    return this.#queue.size >= this.#max
  }

  /**
   * Waits until `release` is called.
   *
   * @param onLimit Makes the error of a request that waited until its time was up.
   * @throws {LoginQueueFullError} At once, if too many wait already.
   */
  wait(until: number, signal: AbortSignal | undefined, onLimit: () => unknown): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.isFull) return Promise.reject(new LoginQueueFullError(this.#max))
    const waitMs = Math.max(0, until - this.#clock.now())
    // `awaited`: a program that waits for nothing else must not end before it has its answer.
    return this.#queue.wait(signal, (leave) => this.#clock.awaited(waitMs, () => leave(onLimit())))
  }

  /** Lets all requests go on, oldest first. */
  release(): void {
    this.#queue.releaseAll()
  }

  /** Rejects all requests. */
  close(reason: unknown): void {
    this.#queue.rejectAll(reason)
  }
}

/** Reports when a vault is depleted, freezes and thaws: each once, when it happens. */
export class FreezeReporter {
  readonly #report: (event: Report) => void
  readonly #clock: Clock
  #hasUsable = false
  #frozenSince: number | undefined

  constructor(report: (event: Report) => void, clock: Clock) {
    this.#report = report
    this.#clock = clock
  }

  /** Milliseconds since the epoch; undefined while requests need not wait. */
  get frozenSince(): number | undefined {
    return this.#frozenSince
  }

  /** Whether something could be used when this was last noted. */
  get hasUsable(): boolean {
    return this.#hasUsable
  }

  /** Something can be used, as a login or a server has just shown. */
  noteUsable(): void {
    this.#hasUsable = true
  }

  /** Nothing can be used. It is reported only if something could be used before. */
  noteDepleted(): void {
    if (!this.#hasUsable) return
    this.#hasUsable = false
    this.#report({ type: 'depleted' })
  }

  noteFrozen(): void {
    if (this.#frozenSince !== undefined) return
    this.#frozenSince = this.#clock.now()
    this.#report({ type: 'frozen' })
  }

  noteThawed(): void {
    if (this.#frozenSince === undefined) return
    const frozenMs = Math.max(0, this.#clock.now() - this.#frozenSince)
    this.#frozenSince = undefined
    this.#report({ type: 'thawed', frozenMs })
  }
}
