/** How long a credential that the server refused is left alone. */
export interface ExclusionPolicy {
  readonly firstMs: number
  readonly limitMs: number
  /** How many are remembered; the oldest are forgotten. */
  readonly most: number
}

export const DEFAULT_EXCLUSION: ExclusionPolicy = {
  firstMs: 30_000,
  limitMs: 600_000,
  most: 1000,
}

interface Exclusion {
  readonly count: number
  readonly until: number
}

/**
 * Credentials that a server refused, by digest of server and secret.
 *
 * An exclusion ends after a pause that doubles with every refusal. Then one request tries the credential
 * again, while the others still leave it alone; what the server says to that one decides.
 */
export class Exclusions {
  readonly #policy: ExclusionPolicy
  readonly #known = new Map<string, Exclusion>()

  constructor(policy: ExclusionPolicy = DEFAULT_EXCLUSION) {
    this.#policy = policy
  }

  isExcluded(digest: string, now: number): boolean {
    return now < (this.#known.get(digest)?.until ?? Number.NEGATIVE_INFINITY)
  }

  /** When the exclusion ends; undefined for what was not refused. */
  endOf(digest: string): number | undefined {
    return this.#known.get(digest)?.until
  }

  /** The server said no. */
  refuse(digest: string, now: number): void {
    const count = (this.#known.get(digest)?.count ?? 0) + 1
    const wait = Math.min(this.#policy.firstMs * 2 ** Math.min(count - 1, 30), this.#policy.limitMs)
    this.#remember(digest, { count, until: now + wait })
  }

  /** Somebody takes it: if it was excluded before, everybody else leaves it alone until we know. */
  take(digest: string, now: number): void {
    const known = this.#known.get(digest)
    if (known === undefined || now < known.until) return
    this.#remember(digest, { count: known.count, until: now + this.#policy.firstMs })
  }

  /** The server said yes. */
  accept(digest: string): void {
    this.#known.delete(digest)
  }

  #remember(digest: string, exclusion: Exclusion): void {
    // Written last: the order of a map is the order in which its keys came.
    this.#known.delete(digest)
    this.#known.set(digest, exclusion)
    if (this.#known.size <= this.#policy.most) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}
