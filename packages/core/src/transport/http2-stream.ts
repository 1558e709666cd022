import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { Readable } from 'node:stream'
import type { Incoming, Try } from './exchange.ts'
import { broken, type Http2Connection } from './http2-connection.ts'
import { Http2ResponseBody } from './http2-response-body.ts'
import { sendBody } from './send-body.ts'

/** Why there was no answer, and with that whether the request may be sent again. */
export interface Unanswered {
  /**
   * `unprocessed`: the server did not look at it. `broken`: the connection broke, and nobody knows.
   * `failed`: trying again would not help.
   */
  readonly is: 'unprocessed' | 'broken' | 'failed'
  readonly error: unknown
}

/** Sends one try as a stream of a connection on which a place was reserved for it. */
export function sendStream(
  connection: Http2Connection,
  origin: string,
  attempt: Try,
): Promise<Incoming | Unanswered> {
  const { body, signal, wire } = attempt
  return new Promise((resolve) => {
    const stream = open(connection, origin, attempt)
    if (!('rstCode' in stream)) {
      resolve(stream)
      return
    }
    let answer: Http2ResponseBody | undefined
    let failure: unknown
    const end = (reason: Error): void => {
      failure = reason
      answer?.destroy(reason)
      stream.close(constants.NGHTTP2_CANCEL)
    }
    const abort = (): void => end(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    wire.add(end)
    stream.on('error', (error) => {
      failure ??= error
    })
    stream.once('response', (headers) => {
      wire.delete(end)
      const { 'content-length': length } = headers
      answer = new Http2ResponseBody(stream, connection, {
        passage: attempt.passage,
        length: length === undefined ? undefined : Number(length),
      })
      resolve(incomingOf(headers, answer))
    })
    stream.once('close', () => {
      signal?.removeEventListener('abort', abort)
      wire.delete(end)
      if (body instanceof Readable) body.destroy()
      if (answer === undefined) resolve(unanswered(connection, stream, failure))
    })
    // Never with `destroy`: see `later` in http2-connection.ts.
    if (body !== undefined) sendBody(body, stream, end)
  })
}

function open(
  connection: Http2Connection,
  origin: string,
  { method, path, headers, body, signal }: Try,
): ClientHttp2Stream | Unanswered {
  const { isUsable } = connection
  try {
    signal?.throwIfAborted()
    return connection.open(
      {
        ':method': method,
        ':scheme': 'https',
        ':authority': origin.slice('https://'.length),
        ':path': path,
        ...endToEnd(headers),
        ...(body instanceof Uint8Array && { 'content-length': String(body.length) }),
      },
      { endStream: body === undefined },
    )
  } catch (error) {
    connection.leave()
    // What ended the connection just now is the request itself: it would end every other one too.
    return { is: isUsable ? 'failed' : 'unprocessed', error }
  }
}

/** HTTP/2 has no words for the connection between two hops, and calls the host the authority. */
const NOT_OURS = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

function endToEnd(headers: Try['headers']): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {}
  for (const name in headers) if (!NOT_OURS.has(name)) kept[name] = headers[name]
  return kept
}

function incomingOf(
  given: IncomingHttpHeaders & IncomingHttpStatusHeader,
  body: Http2ResponseBody,
): Incoming {
  const headers: Record<string, string | string[] | undefined> = {}
  for (const name in given) if (!name.startsWith(':')) headers[name] = given[name]
  return { statusCode: given[':status'] ?? 0, statusText: '', headers, body }
}

function unanswered(
  connection: Http2Connection,
  stream: ClientHttp2Stream,
  failure: unknown,
): Unanswered {
  const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
  if (isRefused || connection.hasMissed(stream)) {
    return { is: 'unprocessed', error: failure ?? connection.error }
  }
  if (connection.isEnded) return { is: 'broken', error: failure ?? connection.error }
  const ended = (): Error => broken('ECONNRESET', 'the server ended the request without an answer')
  return { is: 'failed', error: failure ?? ended() }
}
