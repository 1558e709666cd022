/**
 * Runs `work` with a signal that aborts after a time, or with another signal.
 *
 * `AbortSignal.any` would do, but on Node 20 one made of timeouts can be collected before it rings.
 *
 * @throws A `TimeoutError` when the time passed.
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const follow = (): void => controller.abort(signal.reason)
  const ring = (): void => controller.abort(new DOMException('time is up', 'TimeoutError'))
  const timer = setTimeout(ring, milliseconds)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}
