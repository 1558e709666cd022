import type { Description, Instrument, Sample } from './family.ts'

/** How many observations were at most as large as each bound. */
export class Histogram implements Instrument {
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly name: string
  readonly help: string
  readonly #bounds: readonly number[]
  #counts: number[] = []
  #sum = 0
  #count = 0

  /** @param bounds Upper bounds in rising order, without `+Inf`, which is always there. */
  constructor({ name, help }: Description, bounds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = bounds
    this.reset()
  }

  observe(value: number): void {
    this.#sum += value
    this.#count += 1
    this.#counts = this.#counts.map((count, nth) =>
      value <= (this.#bounds[nth] ?? 0) ? count + 1 : count,
    )
  }

  samples(): readonly Sample[] {
    const bucket = (le: string, value: number): Sample => ({
      name: `${this.name}_bucket`,
      labels: { le },
      value,
    })
    return [
      ...this.#bounds.map((bound, nth) => bucket(String(bound), this.#counts[nth] ?? 0)),
      bucket('+Inf', this.#count),
      { name: `${this.name}_sum`, labels: {}, value: this.#sum },
      { name: `${this.name}_count`, labels: {}, value: this.#count },
    ]
  }

  reset(): void {
    this.#counts = this.#bounds.map(() => 0)
    this.#sum = 0
    this.#count = 0
  }
}
