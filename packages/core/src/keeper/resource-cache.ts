import { ConnectionRetiredError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'

/** A resource that was built from a credential and must close with it. */
export interface Closable {
  /** Closes once its requests are done. */
  close(): void | Promise<void>
  /** Closes at once and aborts its requests. */
  destroy(reason: Error): void | Promise<void>
}

/**
 * The resources of one TLS identity: pools, agents, sessions.
 *
 * They are created when first needed and closed when the identity is retired. A new token with the same
 * certificate keeps them: connections are bound to a certificate, not to a token.
 */
export class ResourceCache {
  /** By scope (the server and how it is verified), then by kind. */
  readonly #scopes = new Map<string, Map<string, Closable>>()
  /** No longer returned by `get()`, but still closing. */
  readonly #closing = new Set<Closable>()
  #isRetired = false

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Returns the resource of this kind for this scope, and creates it if there is none yet. */
  get<T extends Closable>(kind: string, scope: string, make: () => T): T {
    const known = this.#scopes.get(scope)?.get(kind)
    if (known !== undefined) return known as T
    const made = make()
    const resources = this.#scopes.get(scope) ?? new Map<string, Closable>()
    this.#scopes.set(scope, resources.set(kind, made))
    // A request still holds a lease of a retired identity: what it creates closes with the request.
    if (this.#isRetired) void Promise.resolve(made.close()).catch(() => {})
    return made
  }

  /** Closes the resources of this scope once their requests are done; the next caller gets new ones. */
  async drain(scope: string): Promise<void> {
    const resources = [...(this.#scopes.get(scope)?.values() ?? [])]
    this.#scopes.delete(scope)
    await Promise.all(resources.map((resource) => this.#close(resource)))
  }

  /** Closes everything once its requests are done, and resolves when they are. */
  async retire(): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled(this.#all().map((resource) => resource.close()))
  }

  /** Closes everything at once. */
  async destroy(reason: Error): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled(this.#all().map((resource) => resource.destroy(reason)))
  }

  /** Closes at once what `drain()` has not finished closing. */
  async destroyClosing(reason: Error): Promise<void> {
    await Promise.allSettled([...this.#closing].map((resource) => resource.destroy(reason)))
  }

  #all(): Closable[] {
    return [...this.#closing, ...[...this.#scopes.values()].flatMap((each) => [...each.values()])]
  }

  async #close(resource: Closable): Promise<void> {
    this.#closing.add(resource)
    await Promise.resolve(resource.close()).catch(() => {})
    this.#closing.delete(resource)
  }
}

/**
 * All resources of one keeper that may still have connections: in use, or retired and still closing.
 *
 * Requests of retired resources may finish within the drain limit.
 */
export class OpenResources {
  readonly #open: Set<ResourceCache>
  readonly #clock: Clock
  readonly #drainLimitMs: number
  /** Functions that cancel the pending drain limits. */
  readonly #timers = new Set<() => void>()

  constructor(shared: ResourceCache, clock: Clock, drainLimitMs: number) {
    this.#open = new Set([shared])
    this.#clock = clock
    this.#drainLimitMs = drainLimitMs
  }

  add(derived: ResourceCache): void {
    this.#open.add(derived)
  }

  /** Closes the resources of a credential once their requests are done, unless the current credential shares them. */
  retire(derived: ResourceCache, inUse: ResourceCache | undefined): void {
    if (inUse === derived) return
    const cancelLimit = this.#startLimit((reason) => void derived.destroy(reason))
    void derived.retire().then(() => {
      cancelLimit()
      this.#open.delete(derived)
    })
  }

  /** Closes connections to a server that is verified differently from now on, once their requests are done. */
  drain(scope: string): void {
    for (const derived of this.#open) {
      const cancelLimit = this.#startLimit((reason) => void derived.destroyClosing(reason))
      void derived.drain(scope).then(cancelLimit)
    }
  }

  /** Closes all of them at once. */
  async destroy(reason: Error): Promise<void> {
    for (const cancel of this.#timers) cancel()
    await Promise.all([...this.#open].map((derived) => derived.destroy(reason)))
  }

  /** Calls `end` when the drain limit passes. Returns a function that cancels it. */
  #startLimit(end: (reason: Error) => void): () => void {
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
