import { AbortableQueue } from '../lifecycle/abortable-queue.ts'

/** A fixed number of places, handed out in the order they were asked for. */
export class Semaphore {
  #limit: number
  #taken = 0
  readonly #queue = new AbortableQueue<void>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** May be changed at any time: more places are handed out at once, fewer as they come back. */
  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    this.#limit = limit
    while (this.#taken < limit && this.#queue.next()) this.#taken += 1
  }

  get taken(): number {
    return this.#taken
  }

  /** Resolves with a function that gives the place back, once there is one. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#limit) this.#taken += 1
    else await this.#queue.wait(signal)
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      this.#giveBack()
    }
  }

  /** A place that becomes free goes straight to the caller that waits longest. */
  #giveBack(): void {
    if (this.#taken > this.#limit || !this.#queue.next()) this.#taken -= 1
  }
}
