import { constants, type ServerHttp2Session } from 'node:http2'
import { type Incoming, sessionOf } from './exchange.ts'

/** The sessions that end, and the last stream of each that is still looked at. */
const retired = new WeakMap<ServerHttp2Session, number>()

/**
 * Lets the connection of a request end when its streams have; nothing new begins on it.
 *
 * What kube-apiserver does with HTTP/2 connections of clients that it does not know, since
 * CVE-2023-44487. As there, the GOAWAY may arrive before the answer.
 *
 * Not with `close()` at once: Node then refuses streams that arrive before the GOAWAY has left, and does
 * so while it reads, which frees memory in use (nodejs/node#64113: the process is aborted, or worse).
 */
export function retireSession(request: Incoming): void {
  const session = sessionOf(request)
  if (session === undefined || !('stream' in request) || retired.has(session)) return
  const last = session.state.lastProcStreamID ?? 0
  retired.set(session, last)
  session.goaway(constants.NGHTTP2_NO_ERROR, last)
  // With the end of the answer the GOAWAY has left too.
  request.stream.once('close', () => setImmediate(() => session.close()))
}

/** Whether a request came after the client was told that its connection ends; it sends it again elsewhere. */
export function isTooLate(request: Incoming): boolean {
  const session = sessionOf(request)
  const last = session && retired.get(session)
  return last !== undefined && 'stream' in request && (request.stream.id ?? 0) > last
}
