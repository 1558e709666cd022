import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 50
const LIMIT_MS = 15_000

/** Waits until a condition holds; false if it takes too long. */
export async function until(isSo: () => boolean): Promise<boolean> {
  const limit = Date.now() + LIMIT_MS
  while (!isSo()) {
    if (Date.now() > limit) return false
    await pause(LOOK_MS)
  }
  return true
}
