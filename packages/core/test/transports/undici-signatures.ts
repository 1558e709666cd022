import type { Driver } from './driver.ts'

/** What every undici costs: it opens the connections, and shares none before it is there. */
export const undiciSignatures: NonNullable<Driver['signatures']> = {
  inTurn: 2,
  atOnce: 20,
  why: 'As many connections as requests at once, or as `connections` allows. The second request opens one more: undici frees the first a turn later.',
}
