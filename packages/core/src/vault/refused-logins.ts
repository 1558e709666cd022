import { Exclusions } from './exclusions.ts'
import type { Kept } from './lease.ts'

/**
 * Logins that a server refused.
 *
 * Mostly it is the credential that was refused, whatever else its login said. Where the server was not even
 * asked, because it could not be trusted, it is the login as a whole: the same credential with another CA
 * may be good.
 */
export class RefusedLogins {
  readonly #exclusions = new Exclusions()

  has({ identity, digest }: Kept, now: number): boolean {
    return this.#exclusions.isExcluded(identity, now) || this.#exclusions.isExcluded(digest, now)
  }

  /** @param status 0 when there was no answer. */
  add({ identity, digest }: Kept, status: number, now: number): void {
    this.#exclusions.refuse(status === 0 ? digest : identity, now)
  }

  /** Somebody takes it: if it was refused before, everybody else leaves it alone until we know. */
  take({ identity, digest }: Kept, now: number): void {
    this.#exclusions.take(identity, now)
    this.#exclusions.take(digest, now)
  }

  /** A server took it. Returns whether it had been refused before. */
  forget({ identity, digest }: Kept): boolean {
    const wasRefused = this.#exclusions.accept(identity)
    return this.#exclusions.accept(digest) || wasRefused
  }

  /** When it may be tried again; undefined for what was not refused. */
  endOf({ identity, digest }: Kept): number | undefined {
    const ends = [this.#exclusions.endOf(identity), this.#exclusions.endOf(digest)]
    const known = ends.filter((end) => end !== undefined)
    return known.length === 0 ? undefined : Math.max(...known)
  }
}
