import { constants, type ServerHttp2Session } from 'node:http2'
import { type Incoming, sessionOf } from './exchange.ts'

/** The sessions that are closing, and the last stream of each that is still handled. */
const retired = new WeakMap<ServerHttp2Session, number>()

/**
 * Closes the HTTP/2 connection of a request once its streams have ended; no new stream is accepted.
 *
 * kube-apiserver does this with connections of unauthenticated clients since CVE-2023-44487. As there, the GOAWAY may
 * arrive before the response.
 *
 * `close()` is not called immediately: Node would then reject streams that arrive before the GOAWAY is sent, and does so
 * while it reads, which frees memory in use (nodejs/node#64113: the process is aborted, or worse).
 */
export function retireSession(request: Incoming): void {
  const session = sessionOf(request)
  if (session === undefined || !('stream' in request) || retired.has(session)) return
  const last = session.state.lastProcStreamID ?? 0
  retired.set(session, last)
  session.goaway(constants.NGHTTP2_NO_ERROR, last)
  // When the response has ended, the GOAWAY has been sent.
  request.stream.once('close', () => setImmediate(() => session.close()))
}

/** Whether a request came after the GOAWAY, and so must not be handled: the client sends it again on another connection. */
export function isTooLate(request: Incoming): boolean {
  const session = sessionOf(request)
  const last = session && retired.get(session)
  return last !== undefined && 'stream' in request && (request.stream.id ?? 0) > last
}
