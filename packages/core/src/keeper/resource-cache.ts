import { ConnectionRetiredError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'

/** What was built from a credential and must end with it. */
export interface Closable {
  /** Lets what is in flight finish, then closes. */
  close(): void | Promise<void>
  /** Ends at once, with what is in flight. */
  destroy(reason: Error): void | Promise<void>
}

/**
 * Things built from one TLS identity: pools, agents, sessions.
 *
 * They are made when first needed and closed when the identity is retired. A new token with the same
 * certificate keeps them: a token is not bound to a connection, a certificate is.
 */
export class ResourceCache {
  /** By scope (which server, checked how), then by kind. */
  readonly #scopes = new Map<string, Map<string, Closable>>()
  /** No longer handed out, and not done yet. */
  readonly #leaving = new Set<Closable>()
  #isRetired = false

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** The thing of this kind for this scope, made now if it is not there yet. */
  get<T extends Closable>(kind: string, scope: string, make: () => T): T {
    const known = this.#scopes.get(scope)?.get(kind)
    if (known !== undefined) return known as T
    const made = make()
    const things = this.#scopes.get(scope) ?? new Map<string, Closable>()
    this.#scopes.set(scope, things.set(kind, made))
    // A request still holds a lease of a retired identity: what it builds ends with the request.
    if (this.#isRetired) void Promise.resolve(made.close()).catch(() => {})
    return made
  }

  /** Closes what has this scope when its users are done; the next caller gets new things. */
  async leave(scope: string): Promise<void> {
    const things = [...(this.#scopes.get(scope)?.values() ?? [])]
    this.#scopes.delete(scope)
    await Promise.all(things.map((thing) => this.#letGo(thing)))
  }

  /** Closes everything when its users are done. Resolves when it is. */
  async retire(): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled(this.#all().map((thing) => thing.close()))
  }

  /** Ends everything now. */
  async destroy(reason: Error): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled(this.#all().map((thing) => thing.destroy(reason)))
  }

  /** Ends now what was left but is not done. */
  async destroyLeaving(reason: Error): Promise<void> {
    await Promise.allSettled([...this.#leaving].map((thing) => thing.destroy(reason)))
  }

  #all(): Closable[] {
    return [...this.#leaving, ...[...this.#scopes.values()].flatMap((each) => [...each.values()])]
  }

  async #letGo(thing: Closable): Promise<void> {
    this.#leaving.add(thing)
    await Promise.resolve(thing.close()).catch(() => {})
    this.#leaving.delete(thing)
  }
}

/**
 * Everything of one keeper that may still have connections: in use, or retired and not done yet.
 *
 * What is retired finishes what it has in flight, for as long as the limit allows.
 */
export class Connections {
  readonly #open: Set<ResourceCache>
  readonly #clock: Clock
  readonly #drainLimitMs: number
  /** How to call off the ends that are still to come. */
  readonly #timers = new Set<() => void>()

  constructor(shared: ResourceCache, clock: Clock, drainLimitMs: number) {
    this.#open = new Set([shared])
    this.#clock = clock
    this.#drainLimitMs = drainLimitMs
  }

  add(derived: ResourceCache): void {
    this.#open.add(derived)
  }

  /** Closes what was built from a credential when its users are done, unless the one in use was built on the same. */
  retire(derived: ResourceCache, inUse: ResourceCache | undefined): void {
    if (inUse === derived) return
    const isDone = this.#limit((reason) => void derived.destroy(reason))
    void derived.retire().then(() => {
      isDone()
      this.#open.delete(derived)
    })
  }

  /** Closes what leads to a server that is to be checked in another way from now on. */
  leave(scope: string): void {
    for (const derived of this.#open) {
      const isDone = this.#limit((reason) => void derived.destroyLeaving(reason))
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
