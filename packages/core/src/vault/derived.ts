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
export class Derived {
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
    // Somebody still holds a lease of a retired identity: what they build ends with what they do.
    if (this.#isRetired) void Promise.resolve(made.close()).catch(() => {})
    return made
  }

  /** Closes what has this scope when its users are done; whoever asks for it again gets new things. */
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
