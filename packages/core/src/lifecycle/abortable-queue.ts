/**
 * Starts something that can end a wait, such as a timer.
 *
 * Returns a function that stops it, called when the wait ends.
 */
type WaitLimit = (leave: (reason: unknown) => void) => () => void

interface Waiting<T> {
  readonly proceed: (value: T) => void
  readonly leave: (reason: unknown) => void
}

/**
 * A FIFO queue of callers that wait for a value.
 *
 * Each caller can leave through its own signal or limit; the others keep their place.
 */
export class AbortableQueue<T> {
  /** A set keeps insertion order and removes in constant time. */
  readonly #waiting = new Set<Waiting<T>>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves when it is this caller's turn. Rejects with the signal's reason, also if it is already aborted. */
  wait(signal?: AbortSignal, limit?: WaitLimit): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiting)
        signal?.removeEventListener('abort', onAbort)
        stopLimit?.()
      }
      const waiting: Waiting<T> = {
        proceed(value) {
          end()
          resolve(value)
        },
        leave(reason) {
          end()
          reject(reason)
        },
      }
      const onAbort = (): void => waiting.leave(signal?.reason)
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', onAbort)
      const stopLimit = limit?.(waiting.leave)
    })
  }

  /** Resolves the oldest wait. Returns false if the queue is empty. */
  next(value: T): boolean {
    const [first] = this.#waiting
    first?.proceed(value)
    return first !== undefined
  }

  /** Resolves all waits, oldest first. */
  releaseAll(value: T): void {
    for (const { proceed } of this.#waiting) proceed(value)
  }

  /** Rejects all waits, oldest first. */
  rejectAll(reason: unknown): void {
    for (const { leave } of this.#waiting) leave(reason)
  }
}
