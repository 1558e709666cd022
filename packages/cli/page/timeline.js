/** More than the list shows, because the strips of many identities need more. */
const MAX_EVENTS = 5000

/** The events that the page has received so far. */
export class Timeline {
  #events = []
  #byIdentity = new Map()
  #startedAt

  /** Adds the new events of a snapshot. If the program was restarted, the old events are dropped. */
  take({ startedAt, timeline }) {
    if (this.#startedAt !== undefined && this.#startedAt !== startedAt) {
      this.#events = []
      this.#byIdentity.clear()
    }
    this.#startedAt = startedAt
    const last = this.#events.at(-1)?.number ?? 0
    const added = timeline
      .filter(({ number }) => number > last)
      .map((event) => ({ ...event, key: keyOf(event) }))
    this.#events.push(...added)
    for (const event of added) this.#listOf(event.identity).push(event)
    if (this.#events.length > MAX_EVENTS) this.#shrink()
  }

  /** All events, the newest last. */
  get events() {
    return this.#events
  }

  /** The events of one identity, the newest last. */
  of(identity) {
    return this.#byIdentity.get(identity) ?? []
  }

  #listOf(identity) {
    if (!this.#byIdentity.has(identity)) this.#byIdentity.set(identity, [])
    return this.#byIdentity.get(identity)
  }

  #shrink() {
    this.#events = this.#events.slice(-MAX_EVENTS / 2)
    this.#byIdentity.clear()
    for (const event of this.#events) this.#listOf(event.identity).push(event)
  }
}

const DURATION = /\b\d+(?:\.\d+)? ?(?:ms|s|min|h|days?)\b/g

/** The same for events that differ only in when they occurred and how long something took or lasts. */
function keyOf({ identity, kind, text }) {
  return JSON.stringify([identity, kind, text.replace(DURATION, '…')])
}
