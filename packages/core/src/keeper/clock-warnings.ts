import type { Clock } from '../ports/clock.ts'
import type { Report } from '../sources/source.ts'

/** Describes a credential that had expired when it arrived: its issuer's clock or ours is wrong, so it may still work. */
export function describeStale(expiresAt: number, now: number): string {
  const ago = Math.round((now - expiresAt) / 1000)
  return `the credential expired ${ago} s before it arrived; it is used anyway`
}

/** `Date` has whole seconds, and a response takes time to arrive: smaller differences mean nothing. */
const MIN_SKEW_MS = 2000

/** Describes the difference between the server's clock and ours; undefined if they agree. */
export function describeSkew(serverNow: number, now: number): string | undefined {
  const skewMs = serverNow - now
  if (!(Math.abs(skewMs) > MIN_SKEW_MS)) return undefined
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const which = skewMs > 0 ? 'behind' : 'ahead of'
  return `the clock of this machine is ${seconds} s ${which} the server's: credentials seem to expire at the wrong time`
}

/** Warns about clocks that disagree: for every credential that arrives expired, and once about the difference. */
export class ClockWarnings {
  readonly #clock: Clock
  readonly #report: (event: Report) => void
  #isSkewReported = false

  constructor(clock: Clock, report: (event: Report) => void) {
    this.#clock = clock
    this.#report = report
  }

  noteStale(expiresAt: number): void {
    this.#report({ type: 'warning', message: describeStale(expiresAt, this.#clock.now()) })
  }

  /** @param date The server's `Date` header. */
  noteDate(date: string): void {
    if (this.#isSkewReported) return
    const message = describeSkew(this.#clock.parseDate(date), this.#clock.now())
    if (message === undefined) return
    this.#isSkewReported = true
    this.#report({ type: 'warning', message })
  }
}
