import type { Moment } from './snapshot.ts'
import type { MomentFacts } from './timeline-event.ts'

/** How many moments are kept for a reader who comes later. */
export const LONGEST_TIMELINE = 400

/** What happened, the newest last, in a bounded amount of memory. */
export class Timeline {
  #moments: Moment[] = []
  #last = 0

  /** The number of the newest moment; 0 when there is none. */
  get last(): number {
    return this.#last
  }

  add(at: number, { id, title }: { id: string; title: string }, facts: MomentFacts): void {
    this.#last += 1
    this.#moments.push({ number: this.#last, at, identity: id, title, ...facts })
    // Now and then, not each time: to move them all is work.
    if (this.#moments.length >= 2 * LONGEST_TIMELINE) this.#moments = this.#newest()
  }

  /** What came after the moment with that number. */
  after(number: number): readonly Moment[] {
    return this.#newest().filter((moment) => moment.number > number)
  }

  #newest(): Moment[] {
    return this.#moments.slice(-LONGEST_TIMELINE)
  }
}
