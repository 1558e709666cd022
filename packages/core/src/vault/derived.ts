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
  readonly #things = new Map<string, Closable>()
  #isRetired = false

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** The thing with this key, made now if it is not there yet. */
  get<T extends Closable>(key: string, make: () => T): T {
    const known = this.#things.get(key)
    if (known !== undefined) return known as T
    const made = make()
    this.#things.set(key, made)
    // Somebody still holds a lease of a retired identity: what they build ends with what they do.
    if (this.#isRetired) void Promise.resolve(made.close()).catch(() => {})
    return made
  }

  /** Closes everything when its users are done. Resolves when it is. */
  async retire(): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled([...this.#things.values()].map((thing) => thing.close()))
  }

  /** Ends everything now. */
  async destroy(reason: Error): Promise<void> {
    this.#isRetired = true
    await Promise.allSettled([...this.#things.values()].map((thing) => thing.destroy(reason)))
  }
}
