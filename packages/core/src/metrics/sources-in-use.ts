import {
  type CredentialEvent,
  type SourceLabel,
  VAULT_LOAD,
  type VaultLoad,
} from '../ports/observer.ts'

interface Entry {
  /** How often it is borrowed: once for each observer that is not shared. */
  users: number
  /** When its certificate expires; undefined when it has none. */
  notAfter: number | undefined
}

/**
 * The sources that the watched connections use, for gauges that are computed when scraped.
 *
 * A source counts from the moment a connection borrows it until the last one releases it. Its certificate stays
 * when it has expired, and so does its place here: an alert waits for a negative time to live.
 */
export class SourcesInUse {
  readonly #entries = new Map<SourceLabel, Entry>()

  note(event: CredentialEvent): void {
    const { source } = event
    const users = this.#entries.get(source)?.users ?? 0
    switch (event.type) {
      case 'borrowed':
        this.#entries.set(source, { users: users + 1, notAfter: event.certificate?.notAfter })
        break
      case 'run-succeeded':
        this.#entries.set(source, {
          users: Math.max(users, 1),
          notAfter: event.certificate?.notAfter,
        })
        break
      case 'released':
        this.#release(source)
        break
      default:
        // A failed run leaves the certificate in use.
        break
    }
  }

  /** When the first certificate of each kind of source expires, in the order of the kinds' names. */
  firstEnds(): Map<SourceLabel['kind'], number> {
    const ends = new Map<SourceLabel['kind'], number>()
    for (const [{ kind }, { notAfter }] of this.#entries) {
      if (notAfter === undefined) continue
      ends.set(kind, Math.min(ends.get(kind) ?? Number.POSITIVE_INFINITY, notAfter))
    }
    return new Map([...ends].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** Adds up one number of all vaults. */
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
