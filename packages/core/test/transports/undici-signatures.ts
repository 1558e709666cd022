import type { Driver } from './driver.ts'

/** The signatures of every undici: it opens connections at once, and shares none that is not open yet. */
export const undiciSignatures: NonNullable<Driver['signatures']> = {
  inTurn: 2,
  atOnce: 4,
  why: 'Four connections for short requests, or as many as `connections` allows. The second request opens one more: undici frees the first a turn later.',
}
