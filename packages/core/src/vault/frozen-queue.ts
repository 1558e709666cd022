import { LoginQueueFullError } from '../errors/index.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import type { Clock } from '../ports/clock.ts'

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
