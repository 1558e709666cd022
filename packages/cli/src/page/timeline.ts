import type { TimelineEvent } from './snapshot.ts'
import type { TimelineEventDetails } from './timeline-event.ts'

/** How many events are kept for clients that connect later. */
export const MAX_TIMELINE_EVENTS = 400

/** The latest events, the newest last, in a bounded amount of memory. */
export class Timeline {
  #events: TimelineEvent[] = []
  #last = 0

  /** The number of the newest event; 0 if there is none. */
  get last(): number {
    return this.#last
  }

  add(
    at: number,
    { id, title }: { id: string; title: string },
    details: TimelineEventDetails,
  ): void {
    this.#last += 1
    this.#events.push({ number: this.#last, at, identity: id, title, ...details })
    // Trims only at twice the limit, because each trim copies all events.
    if (this.#events.length >= 2 * MAX_TIMELINE_EVENTS) this.#events = this.#newest()
  }

  /** Returns the events after the one with this number. */
  after(number: number): readonly TimelineEvent[] {
    return this.#newest().filter((event) => event.number > number)
  }

  #newest(): TimelineEvent[] {
    return this.#events.slice(-MAX_TIMELINE_EVENTS)
  }
}
