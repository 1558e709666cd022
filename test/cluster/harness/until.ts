import { setTimeout as pause } from 'node:timers/promises'

const LONGEST_MS = 30_000
const LOOK_MS = 50

/** Waits until a condition holds; throws when it does not in time. */
export async function until(
  holds: () => unknown | Promise<unknown>,
  longestMs = LONGEST_MS,
): Promise<void> {
  const end = Date.now() + longestMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`this does not come true: ${holds}`)
    await pause(LOOK_MS)
  }
}
