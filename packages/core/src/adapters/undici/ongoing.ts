/** Something that is on its way. */
interface Abortable {
  abort(reason: Error): void
}

/** Requests that are on their way. */
export class Ongoing {
  readonly #all = new Set<Abortable>()
  readonly #onBusy: () => () => void
  #waiting: (() => void)[] = []
  #onIdle = (): void => {}

  /** @param onBusy Called when there begins to be one; what it returns, when there is none any more. */
  constructor(onBusy: () => () => void = () => () => {}) {
    this.#onBusy = onBusy
  }

  add(one: Abortable): void {
    if (this.#all.size === 0) this.#onIdle = this.#onBusy()
    this.#all.add(one)
  }

  delete(one: Abortable): void {
    if (!this.#all.delete(one) || this.#all.size > 0) return
    this.#onIdle()
    for (const proceed of this.#waiting.splice(0)) proceed()
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
