/** Callers that wait for the run in flight. Each may leave alone. */
export class Waiters {
  #waiting = new Set<() => void>()

  /** Resolves with the end of the run in flight; rejects with the signal's reason when the caller gives up. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const leave = (): void => {
        this.#waiting.delete(proceed)
        reject(signal?.reason)
      }
      const proceed = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.add(proceed)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Lets everybody who waits now go on. */
  release(): void {
    const released = this.#waiting
    this.#waiting = new Set()
    for (const proceed of released) proceed()
  }
}
