/** The limits of an exponential back-off: the first pause, and the longest one. */
export interface BackOffLimits {
  readonly backoffFirstMs: number
  readonly backoffLimitMs: number
}

/** A random number between -1 and 1, new for every use, so that many processes do not act in step. */
export type Jitter = number

const SPREAD = 0.2
/** Keeps the power finite: 0 times Infinity is NaN. */
const MAX_DOUBLINGS = 30

/**
 * Returns the pause after this many consecutive failures (counted from 1), in milliseconds.
 *
 * Jitter varies it by up to 20 %.
 */
export function backOff(
  failures: number,
  { backoffFirstMs, backoffLimitMs }: BackOffLimits,
  jitter: Jitter = 0,
): number {
  const doubled = backoffFirstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)
  return Math.round(Math.min(doubled, backoffLimitMs) * (1 + SPREAD * jitter))
}

/** Returns the longest pause that `backOff` can return. A longer one means that the clock was set back. */
export function maxBackOff({ backoffLimitMs }: BackOffLimits): number {
  return backoffLimitMs * (1 + SPREAD)
}
