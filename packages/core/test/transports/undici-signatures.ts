import type { Driver } from './driver.ts'

/** What every undici costs: it opens the connections, and shares none before it is there. */
export const undiciSignatures: NonNullable<Driver['signatures']> = {
  inTurn: 2,
  atOnce: 4,
  why: 'Four connections for short requests, or as many as `connections` allows. The second request opens one more: undici frees the first a turn later.',
}
