import type { Closable } from '../../vault/derived.ts'
import type { Pools } from './pools.ts'

/** The pools of several dispatchers under the same identity; none sees those of another. */
export class PoolsByOwner implements Closable {
  readonly #pools = new Map<object, Pools>()
  #isClosed = false

  of(owner: object, make: () => Pools): Pools {
    const known = this.#pools.get(owner)
    if (known !== undefined) return known
    const made = make()
    this.#pools.set(owner, made)
    // The identity was retired while somebody held its lease: what they open ends with what they do.
    if (this.#isClosed) void made.close()
    return made
  }

  /** Forgets pools that have ended. */
  delete(owner: object): void {
    this.#pools.delete(owner)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pools.values()].map((pools) => pools.close()))
  }

  async destroy(reason: Error): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pools.values()].map((pools) => pools.destroy(reason)))
  }
}
