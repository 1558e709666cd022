import type { Incoming } from './exchange.ts'

/**
 * An answer that nobody waits for after the caller's signal, also while its connection is being made.
 *
 * Clients look at a signal only when they have a connection, and one may take half a minute. What comes of
 * the request then is dropped.
 */
export function endWithSignal(
  answer: Promise<Incoming>,
  signal: AbortSignal | undefined,
): Promise<Incoming> {
  if (signal === undefined || signal.aborted) return answer
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason)
      answer.then(drop, () => {})
    }
    signal.addEventListener('abort', leave, { once: true })
    const stay = (): void => signal.removeEventListener('abort', leave)
    answer.then(
      (incoming) => {
        stay()
        resolve(incoming)
      },
      (error: unknown) => {
        stay()
        reject(error)
      },
    )
  })
}

function drop({ body }: Incoming): void {
  body.on('error', () => {}).destroy()
}
