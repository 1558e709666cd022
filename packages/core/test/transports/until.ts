import { setTimeout as pause } from 'node:timers/promises'

/** Longer than anything that is waited for: the slowest is a file, which is looked at once a second. */
const LONGEST_MS = 10_000
const LOOK_MS = 20

/**
 * Waits until a condition holds; throws when it does not in time.
 *
 * `expect.poll` cannot be used by tests that run beside each other.
 */
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
