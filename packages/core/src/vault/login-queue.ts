import { LoginQueueFullError } from '../errors/index.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import type { Clock } from '../ports/clock.ts'
import type { Report } from '../sources/source.ts'

/** The queue of requests that wait for a login: a limited number, each for a limited time. */
export class LoginQueue {
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
   * @param onLimit Makes the error of a request that reached its deadline.
   * @throws {LoginQueueFullError} `ERR_LOGIN_QUEUE_FULL` at once, if the queue is full.
   */
  wait(until: number, signal: AbortSignal | undefined, onLimit: () => unknown): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.isFull) return Promise.reject(new LoginQueueFullError(this.#max))
    const waitMs = Math.max(0, until - this.#clock.now())
    // `afterRef` keeps the process alive: a program that waits for nothing else must not exit before this settles.
    return this.#queue.wait(signal, (leave) => this.#clock.afterRef(waitMs, () => leave(onLimit())))
  }

  /** Resumes all requests, oldest first. */
  release(): void {
    this.#queue.releaseAll()
  }

  /** Rejects all requests. */
  close(reason: unknown): void {
    this.#queue.rejectAll(reason)
  }
}

/** Reports when a vault is depleted, freezes and thaws: once for each transition. */
export class FreezeReporter {
  readonly #report: (event: Report) => void
  readonly #clock: Clock
  #hasUsable = false
  #frozenSince: number | undefined

  constructor(report: (event: Report) => void, clock: Clock) {
    this.#report = report
    this.#clock = clock
  }

  /** Milliseconds since the epoch; undefined while requests do not wait. */
  get frozenSince(): number | undefined {
    return this.#frozenSince
  }

  /** Whether a credential was usable when last noted. */
  get hasUsable(): boolean {
    return this.#hasUsable
  }

  /** Notes that a credential is usable, after a login or an accepted request. */
  noteUsable(): void {
    this.#hasUsable = true
  }

  /** Notes that no credential is usable. Reported only if one was usable before. */
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
