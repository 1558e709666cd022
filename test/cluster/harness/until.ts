import { setTimeout as pause } from 'node:timers/promises'

const TIMEOUT_MS = 30_000
const LOOK_MS = 50

/** Waits until a condition holds. @throws {Error} It does not in time. */
export async function until(
  holds: () => unknown | Promise<unknown>,
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`this does not come true: ${holds}`)
    await pause(LOOK_MS)
  }
}
