import type { Clock } from '../ports/clock.ts'

/** The time limit of something passed. */
export class TimeUp extends Error {}

/**
 * Runs something until it ends, its time is up or the signal says so. What it does later is dropped.
 *
 * @throws {TimeUp} Or the signal's reason, or what the work throws.
 */
export async function runLimited<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { limitMs, signal, clock }: { limitMs: number; signal: AbortSignal; clock: Clock },
): Promise<T> {
  signal.throwIfAborted()
  if (limitMs <= 0) throw new TimeUp()
  const own = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
  })
  stopped.catch(() => {})
  const onAbort = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = Number.isFinite(limitMs)
    ? clock.after(limitMs, () => own.abort(new TimeUp('the time limit passed')))
    : undefined
  try {
    return await Promise.race([(async () => work(own.signal))(), stopped])
  } finally {
    cancel?.()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits. Rejects with the signal's reason. */
export function pause(milliseconds: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(milliseconds, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}
