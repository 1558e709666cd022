import type { HeldLease } from '../keeper/lease.ts'
import { type BackOffLimits, backOff } from '../lifecycle/back-off.ts'

/**
 * The logins that a server refused.
 *
 * Usually the credential is excluded, whatever the other fields of its login. If there was no response because the
 * server could not be trusted, the login as a whole is excluded: the same credential with another CA may work.
 */
export class RefusedLogins {
  readonly #exclusions = new Exclusions()

  has({ identity, digest }: HeldLease, now: number): boolean {
    return this.#exclusions.isExcluded(identity, now) || this.#exclusions.isExcluded(digest, now)
  }

  /** @param status 0 if there was no response. */
  add({ identity, digest }: HeldLease, status: number, now: number): void {
    this.#exclusions.refuse(status === 0 ? digest : identity, now)
  }

  /** Notes that a request uses it: if it was refused before, it stays excluded for others until the server responds. */
  noteTry({ identity, digest }: HeldLease, now: number): void {
    this.#exclusions.noteTry(identity, now)
    this.#exclusions.noteTry(digest, now)
  }

  /** Forgets the refusals of a login that a server accepted. Returns whether there were any. */
  forget({ identity, digest }: HeldLease): boolean {
    const wasRefused = this.#exclusions.accept(identity)
    return this.#exclusions.accept(digest) || wasRefused
  }

  /** Returns when it may be tried again; undefined if it was not refused. */
  endOf({ identity, digest }: HeldLease): number | undefined {
    const ends = [this.#exclusions.endOf(identity), this.#exclusions.endOf(digest)]
    const known = ends.filter((end) => end !== undefined)
    return known.length === 0 ? undefined : Math.max(...known)
  }
}

/** How long a refused credential is excluded. */
const PAUSES: BackOffLimits = { backoffFirstMs: 30_000, backoffLimitMs: 600_000 }
/** How many exclusions are remembered; the oldest are forgotten. */
const MAX_REMEMBERED = 1000

interface Exclusion {
  readonly count: number
  readonly until: number
  /** Whether a request is trying it again: the server's response to that request decides. */
  readonly isRetrying: boolean
}

/**
 * The credentials that a server refused, by digest.
 *
 * An exclusion ends after a pause that doubles with every refused try. Then one request tries the credential again,
 * while it stays excluded for others, and the server's response to that request decides.
 */
export class Exclusions {
  readonly #known = new Map<string, Exclusion>()

  isExcluded(digest: string, now: number): boolean {
    const left = (this.#known.get(digest)?.until ?? Number.NEGATIVE_INFINITY) - now
    // Longer than the limit: the clock was set back, so the exclusion is over.
    return left > 0 && left <= PAUSES.backoffLimitMs
  }

  /** Returns when the exclusion ends; undefined if it was not refused. */
  endOf(digest: string): number | undefined {
    return this.#known.get(digest)?.until
  }

  /** Notes a refusal. Refusals of requests that were already in flight at the first one do not count again. */
  refuse(digest: string, now: number): void {
    const known = this.#known.get(digest)
    if (known?.isRetrying === false && this.isExcluded(digest, now)) return
    const count = (known?.count ?? 0) + 1
    this.#remember(digest, { count, until: now + backOff(count, PAUSES), isRetrying: false })
  }

  /** Notes that a request uses it: if it was refused before, it stays excluded for others until the server responds. */
  noteTry(digest: string, now: number): void {
    const known = this.#known.get(digest)
    if (known === undefined || this.isExcluded(digest, now)) return
    const { count } = known
    this.#remember(digest, { count, until: now + PAUSES.backoffFirstMs, isRetrying: true })
  }

  /** Notes that the server accepted it. Returns whether it was refused before. */
  accept(digest: string): boolean {
    return this.#known.delete(digest)
  }

  #remember(digest: string, exclusion: Exclusion): void {
    // Deleted first, so that it becomes the newest key: a map keeps insertion order.
    this.#known.delete(digest)
    this.#known.set(digest, exclusion)
    if (this.#known.size <= MAX_REMEMBERED) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}
