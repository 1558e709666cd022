import type { Readable, Writable } from 'node:stream'

/**
 * Sends a body on its way, and the end of the request with it.
 *
 * @param fail Told why the body cannot be sent; it may have failed while the connection was made.
 */
export function sendBody(
  body: Uint8Array | Readable | undefined,
  request: Writable,
  fail: (reason: Error) => void,
): void {
  if (body === undefined || body instanceof Uint8Array) request.end(body)
  else if (body.errored) fail(body.errored)
  else body.once('error', fail).pipe(request)
}
