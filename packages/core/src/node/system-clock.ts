import type { Clock } from '../ports/clock.ts'

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  parseDate: (text) => Date.parse(text),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    timer.unref()
    return () => clearTimeout(timer)
  },
  awaited(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
