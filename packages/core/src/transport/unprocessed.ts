import type { Outgoing } from './outgoing.ts'

/** More often than any server that makes progress needs; a bound all the same. */
const MOST_REPEATS = 100

/**
 * The server said that it did not look at a request, because it ends the connection after others.
 *
 * Whatever the request is, it may be sent again. The credential may have changed meanwhile: those
 * others may have been refused, which is why kube-apiserver ends a connection.
 */
export class UnprocessedError extends Error {
  constructor(cause: unknown) {
    super('the server ended the connection before it looked at the request', { cause })
  }
}

/** Whether a request that failed is to be sent again, with what is the credential then. */
export function mayRepeat(error: unknown, { canReplay }: Outgoing, repeats: number): boolean {
  return error instanceof UnprocessedError && repeats < MOST_REPEATS && canReplay()
}
