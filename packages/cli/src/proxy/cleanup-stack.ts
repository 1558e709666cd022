/** What must be done at the end, whatever happens: the last that was begun is ended first. */
export class CleanupStack {
  readonly #all: (() => unknown)[] = []

  add(end: () => unknown): void {
    this.#all.push(end)
  }

  /** Does all of it, also when one fails; then it fails as the first one did. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let end = this.#all.pop(); end !== undefined; end = this.#all.pop()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
