/** Names that become labels: as many as there is room for, and one for all others. */
export class BoundedNames {
  readonly #most: number
  readonly #known = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  /** The name, or `other` when it came too late. */
  labelFor(name: string): string {
    if (this.#known.has(name)) return name
    if (this.#known.size >= this.#most) return 'other'
    this.#known.add(name)
    return name
  }
}
