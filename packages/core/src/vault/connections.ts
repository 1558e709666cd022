import { ConnectionRetiredError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'
import type { Derived } from './derived.ts'
import type { Kept } from './lease.ts'

/**
 * Everything of one keeper that may still have connections: in use, or retired and not done yet.
 *
 * What is retired finishes what it has in flight, for as long as the limit allows.
 */
export class Connections {
  readonly #open: Set<Derived>
  readonly #clock: Clock
  readonly #drainLimitMs: number
  /** How to call off the ends that are still to come. */
  readonly #timers = new Set<() => void>()

  constructor(lasting: Derived, clock: Clock, drainLimitMs: number) {
    this.#open = new Set([lasting])
    this.#clock = clock
    this.#drainLimitMs = drainLimitMs
  }

  add({ derived }: Kept): void {
    this.#open.add(derived)
  }

  /** Closes what was built from a credential when its users are done, unless the one in use was built on the same. */
  retire({ derived }: Kept, inUse: Kept | undefined): void {
    if (inUse?.derived === derived) return
    const isDone = this.#limit((reason) => derived.destroy(reason))
    void derived.retire().then(() => {
      isDone()
      this.#open.delete(derived)
    })
  }

  /** Closes what leads to a server that is to be checked in another way from now on. */
  leave(scope: string): void {
    for (const derived of this.#open) {
      const isDone = this.#limit((reason) => derived.destroyLeaving(reason))
      void derived.leave(scope).then(isDone)
    }
  }

  /** Ends all of them at once. */
  async destroy(reason: Error): Promise<void> {
    for (const cancel of this.#timers) cancel()
    await Promise.all([...this.#open].map((derived) => derived.destroy(reason)))
  }

  /** Ends what has not ended by itself when the limit passes. Returns how to say that it has. */
  #limit(end: (reason: Error) => void): () => void {
    const limit = this.#drainLimitMs
    if (!Number.isFinite(limit)) return () => {}
    const cancel = this.#clock.after(limit, () => {
      this.#timers.delete(cancel)
      end(new ConnectionRetiredError(limit))
    })
    this.#timers.add(cancel)
    return () => {
      this.#timers.delete(cancel)
      cancel()
    }
  }
}
