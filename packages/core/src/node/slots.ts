/** A fixed number of places, handed out in the order they were asked for. */
export class Slots {
  #limit: number
  #taken = 0
  readonly #queue: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** May be changed at any time: more places are handed out at once, fewer as they come back. */
  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    this.#limit = limit
    while (this.#taken < limit && this.#proceedNext()) this.#taken += 1
  }

  get taken(): number {
    return this.#taken
  }

  /** Resolves with a function that gives the place back, once there is one. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#limit) this.#taken += 1
    else await this.#queueUp(signal)
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      this.#giveBack()
    }
  }

  #queueUp(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(proceed), 1)
        reject(signal?.reason)
      }
      const proceed = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#queue.push(proceed)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** A place that becomes free goes straight to the one who waits longest. */
  #giveBack(): void {
    if (this.#taken > this.#limit || !this.#proceedNext()) this.#taken -= 1
  }

  /** Says whether anybody was waiting. */
  #proceedNext(): boolean {
    const next = this.#queue.shift()
    next?.()
    return next !== undefined
  }
}
