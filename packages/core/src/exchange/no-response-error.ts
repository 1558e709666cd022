/**
 * Why there was no response, where that decides whether the request may be sent again.
 *
 * - `unprocessed`: the server did not look at the request, because it ends the connection after others. It may have
 *   refused those, which is why kube-apiserver ends one: the credential may have changed meanwhile.
 * - `busy`: it did not look at it, and would do the same again at once.
 * - `stale`: a connection that was kept alive had ended before the request was sent on it.
 */
export type NoResponseReason = 'unprocessed' | 'busy' | 'stale'

/** There was no response, and the exchange knows more than the error of the connection says. */
export class NoResponseError extends Error {
  readonly reason: NoResponseReason

  constructor(reason: NoResponseReason, cause: unknown) {
    super('there was no response to the request', { cause })
    this.reason = reason
  }
}
