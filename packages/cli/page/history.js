/** More than the list shows; the strips of many identities need more. */
const MOST_MOMENTS = 5000

/** What the page has been told so far. */
export class History {
  #moments = []
  #byIdentity = new Map()
  #startedAt

  /** Takes what is new in a snapshot. True when another program is behind it, which counts from zero. */
  take({ startedAt, timeline }) {
    const isOther = this.#startedAt !== undefined && this.#startedAt !== startedAt
    this.#startedAt = startedAt
    if (isOther) {
      this.#moments = []
      this.#byIdentity.clear()
    }
    const last = this.#moments.at(-1)?.number ?? 0
    const fresh = timeline.filter(({ number }) => number > last)
    this.#moments.push(...fresh)
    for (const moment of fresh) this.#of(moment.identity).push(moment)
    if (this.#moments.length > MOST_MOMENTS) this.#shrink()
    return isOther
  }

  /** All, the newest last. */
  get moments() {
    return this.#moments
  }

  /** Those of one identity. */
  of(identity) {
    return this.#byIdentity.get(identity) ?? []
  }

  #of(identity) {
    if (!this.#byIdentity.has(identity)) this.#byIdentity.set(identity, [])
    return this.#byIdentity.get(identity)
  }

  #shrink() {
    this.#moments = this.#moments.slice(-MOST_MOMENTS / 2)
    this.#byIdentity.clear()
    for (const moment of this.#moments) this.#of(moment.identity).push(moment)
  }
}
