/** Something that is on its way. */
interface Abortable {
  abort(reason: Error): void
}

/** Requests that are on their way. */
export class Ongoing {
  readonly #all = new Set<Abortable>()
  #waiting: (() => void)[] = []

  /** Adds a request. Returns what is to be called when it is over. */
  add(one: Abortable): () => void {
    this.#all.add(one)
    return () => {
      this.#all.delete(one)
      if (this.#all.size === 0) for (const proceed of this.#waiting.splice(0)) proceed()
    }
  }

  /** Resolves when none is on its way. */
  async whenIdle(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Ends all of them. */
  destroy(reason: Error): void {
    for (const one of this.#all) one.abort(reason)
  }
}
