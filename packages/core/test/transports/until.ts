import { setTimeout as pause } from 'node:timers/promises'

/** Longer than any expected wait: the slowest is for a file, which is checked once a second. */
const MAX_WAIT_MS = 10_000
const INTERVAL_MS = 20

/**
 * Waits until a condition holds. Throws if it does not in time.
 *
 * `expect.poll` cannot be used by concurrent tests.
 */
export async function until(
  holds: () => unknown | Promise<unknown>,
  limitMs = MAX_WAIT_MS,
): Promise<void> {
  const end = Date.now() + limitMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`the condition did not become true: ${holds}`)
    await pause(INTERVAL_MS)
  }
}
