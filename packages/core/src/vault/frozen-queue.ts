import { LoginQueueFullError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'

interface Waiting {
  readonly proceed: () => void
  readonly leave: (reason: unknown) => void
}

/**
 * Requests that wait for a login, in the order they came.
 *
 * Each has its own signal and its own limit; one that leaves does not disturb the others.
 */
export class FrozenQueue {
  readonly #clock: Clock
  readonly #most: number
  readonly #waiting = new Set<Waiting>()

  constructor(clock: Clock, most: number) {
    this.#clock = clock
    this.#most = most
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * Waits until somebody calls `release`.
   *
   * @param onLimit Makes the error of a request that waited until its time was up.
   * @throws {LoginQueueFullError} At once, when too many wait already.
   */
  wait(until: number, signal: AbortSignal | undefined, onLimit: () => unknown): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.#waiting.size >= this.#most) return Promise.reject(new LoginQueueFullError(this.#most))
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiting)
        cancel()
        signal?.removeEventListener('abort', onAbort)
      }
      const waiting: Waiting = {
        proceed() {
          end()
          resolve()
        },
        leave(reason) {
          end()
          reject(reason)
        },
      }
      const onAbort = (): void => waiting.leave(signal?.reason)
      // A program that waits for nothing else must not end before it has its answer.
      const cancel = this.#clock.awaited(Math.max(0, until - this.#clock.now()), () =>
        waiting.leave(onLimit()),
      )
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(waiting)
    })
  }

  /** Lets everybody go on, oldest first. */
  release(): void {
    for (const { proceed } of [...this.#waiting]) proceed()
  }

  /** Sends everybody away. */
  close(reason: unknown): void {
    for (const { leave } of [...this.#waiting]) leave(reason)
  }
}
