import type { SourceLabel } from '../ports/observer.ts'
import type { Description, Instrument, Sample } from './family.ts'

interface Entry {
  /** Watches of the same keeper by this collector: one for each connection. */
  users: number
  notAfter: number | undefined
}

/** Which certificates count together: all of them, or those of each kind of source. */
type Grouping = 'together' | 'by source'

/**
 * The time to live of the certificate that ends first, computed when asked.
 *
 * A keeper counts from the moment a connection borrows it until the last one releases it. Its certificate
 * stays when it has expired, and then the value is negative: that is what an alert waits for.
 */
export class CertificateEnds implements Instrument {
  readonly type = 'gauge'
  readonly aggregator = 'min'
  readonly name: string
  readonly help: string
  readonly #now: () => number
  readonly #grouping: Grouping
  readonly #entries = new Map<SourceLabel, Entry>()

  constructor({ name, help }: Description, now: () => number, grouping: Grouping = 'together') {
    this.name = name
    this.help = help
    this.#now = now
    this.#grouping = grouping
  }

  borrow(keeper: SourceLabel, notAfter: number | undefined): void {
    const users = this.#entries.get(keeper)?.users ?? 0
    this.#entries.set(keeper, { users: users + 1, notAfter })
  }

  /** @param notAfter Undefined when the credential has no certificate. */
  set(keeper: SourceLabel, notAfter: number | undefined): void {
    const users = this.#entries.get(keeper)?.users ?? 1
    this.#entries.set(keeper, { users, notAfter })
  }

  release(keeper: SourceLabel): void {
    const entry = this.#entries.get(keeper)
    if (entry === undefined) return
    entry.users -= 1
    if (entry.users === 0) this.#entries.delete(keeper)
  }

  samples(): readonly Sample[] {
    const ends = [...this.#entries].map(([{ kind }, { notAfter = Number.POSITIVE_INFINITY }]) => ({
      kind,
      notAfter,
    }))
    if (this.#grouping === 'together') return [this.#sample(ends, {})]
    const having = ends.filter(({ notAfter }) => Number.isFinite(notAfter))
    const kinds = [...new Set(having.map(({ kind }) => kind))].sort()
    return kinds.map((source) =>
      this.#sample(
        having.filter(({ kind }) => kind === source),
        { source },
      ),
    )
  }

  #sample(ends: readonly { readonly notAfter: number }[], labels: Sample['labels']): Sample {
    const first = Math.min(...ends.map(({ notAfter }) => notAfter))
    return { name: this.name, labels, value: (first - this.#now()) / 1000 }
  }

  /** What is in use stays in use. */
  reset(): void {}
}
