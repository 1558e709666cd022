/** How long to wait after failures: twice as long after each, up to a limit. In milliseconds. */
export interface BackOffLimits {
  readonly backoffFirstMs: number
  readonly backoffLimitMs: number
}

/** A number between -1 and 1, fresh for every use, so that many processes do not act in step. */
export type Jitter = number

const SPREAD = 0.2
/** Keeps the power finite: 0 times infinity is not a number. */
const MAX_DOUBLINGS = 30

/** The pause after the given number of failures in a row, counted from 1: exact by default, or a fifth off with jitter. */
export function backOff(
  failures: number,
  { backoffFirstMs, backoffLimitMs }: BackOffLimits,
  jitter: Jitter = 0,
): number {
  const doubled = backoffFirstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)
  return Math.min(doubled, backoffLimitMs) * (1 + SPREAD * jitter)
}

/** The longest pause `backOff` gives with any jitter: anything longer means that the clock was set back. */
export function maxBackOff({ backoffLimitMs }: BackOffLimits): number {
  return backoffLimitMs * (1 + SPREAD)
}
