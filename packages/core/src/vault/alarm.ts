import type { Clock } from '../ports/clock.ts'

/** The longest a timer waits before the wall clock is read again: it may have been set, or the machine slept. */
const LONGEST_TIMER_MS = 3_600_000

/** One timer that is set again and again. It may ring early: whoever is woken looks at the clock. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #cancel: () => void = () => {}

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  set(at: number): void {
    this.#cancel()
    const wait = Math.min(Math.max(at - this.#clock.now(), 0), LONGEST_TIMER_MS)
    this.#cancel = this.#clock.after(wait, this.#ring)
  }

  cancel(): void {
    this.#cancel()
  }
}
