import { AbortableQueue } from '../lifecycle/abortable-queue.ts'

/** A counting semaphore: a limited number of slots, granted in the order of the calls. */
export class Semaphore {
  #limit: number
  #taken = 0
  readonly #queue = new AbortableQueue<void>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** May be changed at any time: a higher limit applies at once, a lower one as slots are released. */
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

  /** Resolves with a function that releases the slot, once one is free. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#limit) this.#taken += 1
    else await this.#queue.wait(signal)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release()
    }
  }

  /** Passes the slot directly to the longest-waiting caller, if there is one. */
  #release(): void {
    if (this.#taken > this.#limit || !this.#queue.next()) this.#taken -= 1
  }
}
