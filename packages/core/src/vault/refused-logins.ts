import type { HeldLease } from '../keeper/lease.ts'
import { type BackOffLimits, backOff } from '../lifecycle/back-off.ts'

/**
 * Logins that a server refused.
 *
 * Mostly it is the credential that was refused, whatever else its login said. Where the server was not even
 * asked, because it could not be trusted, it is the login as a whole: the same credential with another CA
 * may be good.
 */
export class RefusedLogins {
  readonly #exclusions = new Exclusions()

  has({ identity, digest }: HeldLease, now: number): boolean {
    return this.#exclusions.isExcluded(identity, now) || this.#exclusions.isExcluded(digest, now)
  }

  /** @param status 0 when there was no answer. */
  add({ identity, digest }: HeldLease, status: number, now: number): void {
    this.#exclusions.refuse(status === 0 ? digest : identity, now)
  }

  /** A request takes it: if it was refused before, all others leave it alone until the server has answered. */
  take({ identity, digest }: HeldLease, now: number): void {
    this.#exclusions.take(identity, now)
    this.#exclusions.take(digest, now)
  }

  /** A server took it. Returns whether it had been refused before. */
  forget({ identity, digest }: HeldLease): boolean {
    const wasRefused = this.#exclusions.accept(identity)
    return this.#exclusions.accept(digest) || wasRefused
  }

  /** When it may be tried again; undefined for what was not refused. */
  endOf({ identity, digest }: HeldLease): number | undefined {
    const ends = [this.#exclusions.endOf(identity), this.#exclusions.endOf(digest)]
    const known = ends.filter((end) => end !== undefined)
    return known.length === 0 ? undefined : Math.max(...known)
  }
}

/** How long a credential that the server refused is left alone. */
const PAUSES: BackOffLimits = { backoffFirstMs: 30_000, backoffLimitMs: 600_000 }
/** How many are remembered; the oldest are forgotten. */
const MAX_REMEMBERED = 1000

interface Exclusion {
  readonly count: number
  readonly until: number
  /** Whether a request tries it again: the server's answer to that request counts. */
  readonly isTried: boolean
}

/**
 * Credentials that a server refused, by digest of server and secret.
 *
 * An exclusion ends after a pause that doubles with every try that is refused. Then one request tries the
 * credential again, while the others still leave it alone; what the server says to that one decides.
 */
export class Exclusions {
  readonly #known = new Map<string, Exclusion>()

  isExcluded(digest: string, now: number): boolean {
    const left = (this.#known.get(digest)?.until ?? Number.NEGATIVE_INFINITY) - now
    // More than we ever give means that the clock was set back: then it is over.
    return left > 0 && left <= PAUSES.backoffLimitMs
  }

  /** When the exclusion ends; undefined for what was not refused. */
  endOf(digest: string): number | undefined {
    return this.#known.get(digest)?.until
  }

  /** The server said no. All who were on their way when it first did are one refusal. */
  refuse(digest: string, now: number): void {
    const known = this.#known.get(digest)
    if (known?.isTried === false && this.isExcluded(digest, now)) return
    const count = (known?.count ?? 0) + 1
    this.#remember(digest, { count, until: now + backOff(count, PAUSES), isTried: false })
  }

  /** A request takes it: if it was excluded before, all others leave it alone until the server has answered. */
  take(digest: string, now: number): void {
    const known = this.#known.get(digest)
    if (known === undefined || this.isExcluded(digest, now)) return
    const { count } = known
    this.#remember(digest, { count, until: now + PAUSES.backoffFirstMs, isTried: true })
  }

  /** The server said yes. Returns whether it had said no before. */
  accept(digest: string): boolean {
    return this.#known.delete(digest)
  }

  #remember(digest: string, exclusion: Exclusion): void {
    // Written last: the order of a map is the order in which its keys came.
    this.#known.delete(digest)
    this.#known.set(digest, exclusion)
    if (this.#known.size <= MAX_REMEMBERED) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}
