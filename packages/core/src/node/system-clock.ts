import type { Clock } from '../ports/clock.ts'

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  parseDate: (text) => Date.parse(text),
  after: (milliseconds, callback) => start(milliseconds, callback, (timer) => void timer.unref()),
  afterRef: (milliseconds, callback) => start(milliseconds, callback, () => {}),
}

/** The limit of Node's timers; with a longer delay they fire at once. */
const MAX_TIMEOUT_MS = 2_147_483_647

/** Starts a timer, in several steps if it is longer than the limit. */
function start(
  milliseconds: number,
  callback: () => void,
  prepare: (timer: NodeJS.Timeout) => void,
): () => void {
  let timer: NodeJS.Timeout
  const step = (left: number): void => {
    const now = Math.min(left, MAX_TIMEOUT_MS)
    timer = setTimeout(() => (left > now ? step(left - now) : callback()), now)
    prepare(timer)
  }
  step(milliseconds)
  return () => clearTimeout(timer)
}
