import type { Clock } from '../ports/clock.ts'
import type { Report } from '../sources/source.ts'

/** A credential that came expired: its clock or ours is wrong, and it may well work. */
export function describeStale(expiresAt: number, now: number): string {
  const ago = Math.round((now - expiresAt) / 1000)
  return `the credential expired ${ago} s before it arrived; it is used all the same`
}

/** The header counts whole seconds, and a response takes its time: less than this is no difference. */
const MIN_SKEW_MS = 2000

/** Whose clock is wrong, from the server's `Date`; undefined if both agree. */
export function describeSkew(serverNow: number, now: number): string | undefined {
  const skewMs = serverNow - now
  if (!(Math.abs(skewMs) > MIN_SKEW_MS)) return undefined
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const which = skewMs > 0 ? 'behind' : 'ahead of'
  return `the clock of this machine is ${seconds} s ${which} the server's: credentials seem to expire at the wrong time`
}

/** Reports clocks that disagree: every credential that came expired, the difference once. */
export class ClockWarnings {
  readonly #clock: Clock
  readonly #report: (event: Report) => void
  #isSkewKnown = false

  constructor(clock: Clock, report: (event: Report) => void) {
    this.#clock = clock
    this.#report = report
  }

  noteStale(expiresAt: number): void {
    this.#report({ type: 'warning', message: describeStale(expiresAt, this.#clock.now()) })
  }

  /** @param date The server's `Date` header. */
  noteDate(date: string): void {
    if (this.#isSkewKnown) return
    const message = describeSkew(this.#clock.parseDate(date), this.#clock.now())
    if (message === undefined) return
    this.#isSkewKnown = true
    this.#report({ type: 'warning', message })
  }
}
