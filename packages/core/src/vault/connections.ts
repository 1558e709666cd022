import type { Derived } from './derived.ts'
import type { Kept } from './lease.ts'

/** Everything of one keeper that may still have connections: in use, or retired and not done yet. */
export class Connections {
  readonly #open: Set<Derived>

  constructor(lasting: Derived) {
    this.#open = new Set([lasting])
  }

  add({ derived }: Kept): void {
    this.#open.add(derived)
  }

  /** Closes what was built from a credential when its users are done, unless the one in use was built on the same. */
  retire({ derived }: Kept, inUse: Kept | undefined): void {
    if (inUse?.derived === derived) return
    void derived.retire().then(() => this.#open.delete(derived))
  }

  /** Ends all of them at once. */
  async destroy(reason: Error): Promise<void> {
    await Promise.all([...this.#open].map((derived) => derived.destroy(reason)))
  }
}
