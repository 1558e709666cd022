import type { Clock } from '../ports/clock.ts'

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  parseDate: (text) => Date.parse(text),
  after: (milliseconds, callback) => start(milliseconds, callback, (timer) => void timer.unref()),
  awaited: (milliseconds, callback) => start(milliseconds, callback, () => {}),
}

/** The longest that Node's timers can wait; beyond it they would not wait at all. */
const LONGEST_MS = 2_147_483_647

/** Waits in steps where one is not long enough. */
function start(
  milliseconds: number,
  callback: () => void,
  prepare: (timer: NodeJS.Timeout) => void,
): () => void {
  let timer: NodeJS.Timeout
  const step = (left: number): void => {
    const now = Math.min(left, LONGEST_MS)
    timer = setTimeout(() => (left > now ? step(left - now) : callback()), now)
    prepare(timer)
  }
  step(milliseconds)
  return () => clearTimeout(timer)
}
