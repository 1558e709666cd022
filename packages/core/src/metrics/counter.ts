import type { Description, Instrument, Sample } from './family.ts'

/** A number per combination of labels that only grows. */
export class Counter<L extends string = never> implements Instrument {
  readonly type = 'counter'
  readonly aggregator = 'sum'
  readonly name: string
  readonly help: string
  readonly #labelNames: readonly L[]
  readonly #counts = new Map<string, { readonly labels: Record<string, string>; value: number }>()

  constructor({ name, help }: Description, labelNames: readonly L[] = []) {
    this.name = name
    this.help = help
    this.#labelNames = labelNames
    this.reset()
  }

  increase(labels: Readonly<Record<L, string>>, by = 1): void {
    this.#at(labels).value += by
  }

  samples(): readonly Sample[] {
    return [...this.#counts.values()].map((count) => ({ name: this.name, ...count }))
  }

  reset(): void {
    this.#counts.clear()
    // Without labels it is known what will be counted: then 0 is an answer, and a rate can begin there.
    if (this.#labelNames.length === 0) this.#at({} as Record<L, string>)
  }

  #at(labels: Readonly<Record<L, string>>): { value: number } {
    const key = JSON.stringify(this.#labelNames.map((name) => labels[name]))
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const ordered = Object.fromEntries(this.#labelNames.map((name) => [name, labels[name]]))
    const made = { labels: ordered, value: 0 }
    this.#counts.set(key, made)
    return made
  }
}
