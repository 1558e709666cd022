import {
  type CredentialEvent,
  type SourceLabel,
  VAULT_LOAD,
  type VaultLoad,
} from '../ports/observer.ts'

interface Entry {
  /** Number of `attached` events without their `detached`: one for each distinct observer. */
  users: number
  /** When its certificate expires; undefined if it has none. */
  notAfter: number | undefined
}

/**
 * The sources that observed connections use, for gauges that are computed on scrape.
 *
 * A source is in use while at least one connection uses it. An expired certificate stays: alerts look for a negative
 * time to live.
 */
export class SourcesInUse {
  readonly #entries = new Map<SourceLabel, Entry>()

  update(event: CredentialEvent): void {
    const { source } = event
    const users = this.#entries.get(source)?.users ?? 0
    switch (event.type) {
      case 'attached':
        this.#entries.set(source, { users: users + 1, notAfter: event.certificate?.notAfter })
        break
      case 'run-succeeded':
        this.#entries.set(source, {
          users: Math.max(users, 1),
          notAfter: event.certificate?.notAfter,
        })
        break
      case 'detached':
        this.#release(source)
        break
      default:
        // In particular, a failed run leaves the certificate in use.
        break
    }
  }

  /** Returns the earliest certificate expiry of each kind of source, sorted by kind. */
  earliestExpiries(): Map<SourceLabel['kind'], number> {
    const expiries = new Map<SourceLabel['kind'], number>()
    for (const [{ kind }, { notAfter }] of this.#entries) {
      if (notAfter === undefined) continue
      expiries.set(kind, Math.min(expiries.get(kind) ?? Number.POSITIVE_INFINITY, notAfter))
    }
    return new Map([...expiries].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** Sums one number over all vaults. */
  sumLoads(read: (load: VaultLoad) => number): number {
    let sum = 0
    for (const source of this.#entries.keys()) {
      const load = source[VAULT_LOAD]?.()
      if (load !== undefined) sum += read(load)
    }
    return sum
  }

  #release(source: SourceLabel): void {
    const entry = this.#entries.get(source)
    if (entry === undefined) return
    entry.users -= 1
    if (entry.users === 0) this.#entries.delete(source)
  }
}
