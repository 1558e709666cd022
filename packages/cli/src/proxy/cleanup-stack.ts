/** Functions to run at the end, in reverse order of registration. */
export class CleanupStack {
  readonly #all: (() => unknown)[] = []

  add(end: () => unknown): void {
    this.#all.push(end)
  }

  /** Runs all of them even if some fail, and then throws the first error. */
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
