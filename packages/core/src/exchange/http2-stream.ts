import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { Readable } from 'node:stream'
import { type HeaderValues, type Sendable, sendBody } from './exchange.ts'
import { type Controller, NoResponseError, type ResponseHeaders } from './handler.ts'
import { connectionError, type Http2Connection } from './http2-connection.ts'

/**
 * Sends a request as a stream of a connection on which a place is reserved for it.
 *
 * @returns False if the connection no longer accepts streams: nothing was sent, and the place was given back.
 */
export function sendStream(connection: Http2Connection, origin: string, call: Sendable): boolean {
  const { isUsable } = connection
  let stream: ClientHttp2Stream
  try {
    stream = connection.open(headersOf(origin, call), { endStream: call.requestBody === undefined })
  } catch (error) {
    connection.leave()
    if (!isUsable) return false
    // The request itself ended the connection, and would end every other one too.
    call.onResponseError(null, error as Error)
    return true
  }
  const sent = new SentStream(connection, stream, call)
  call.onRequestStart(sent, null)
  // Never with `destroy`: see `afterNghttp2` in http2-connection.ts.
  if (call.requestBody !== undefined)
    sendBody(call.requestBody, stream, (error) => sent.abort(error))
  return true
}

/** The stream of a request: reports its events to the call, and is its controller. */
class SentStream implements Controller {
  rawHeaders = null
  rawTrailers = null
  readonly #connection: Http2Connection
  readonly #stream: ClientHttp2Stream
  readonly #call: Sendable
  #failure: Error | undefined
  #reason: Error | null = null
  #isPaused = false
  #hasResponse = false
  #isOver = false
  /** The bytes that have not arrived yet, if the server sent a Content-Length. */
  #remaining: number | undefined

  constructor(connection: Http2Connection, stream: ClientHttp2Stream, call: Sendable) {
    this.#connection = connection
    this.#stream = stream
    this.#call = call
    stream.on('error', (error) => {
      this.#failure ??= error
    })
    stream.once('response', (headers) => this.#begin(headers))
    stream.once('close', () => this.#close())
  }

  get aborted(): boolean {
    return this.#reason !== null
  }

  get reason(): Error | null {
    return this.#reason
  }

  get paused(): boolean {
    return this.#isPaused
  }

  abort(reason: Error = new Error('aborted')): void {
    if (this.#isOver || this.aborted) return
    this.#reason = reason
    this.#failure ??= reason
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  pause(): void {
    this.#isPaused = true
    this.#stream.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#stream.resume()
  }

  #begin(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const { 'content-length': length } = headers
    this.#hasResponse = true
    this.#remaining = length === undefined ? undefined : Number(length)
    this.#call.onResponseStart(this, headers[':status'] ?? 0, withoutPseudo(headers))
    const stream = this.#stream
    stream.on('data', (chunk: Buffer) => {
      if (this.#remaining !== undefined) this.#remaining -= chunk.length
      this.#call.onResponseData(this, chunk)
    })
    stream.once('end', () => {
      // Node also ends a stream when its connection was closed in the middle of it.
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) this.#end()
    })
    if (this.#isPaused) stream.pause()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call.onResponseEnd(this, {})
  }

  #close(): void {
    const { requestBody } = this.#call
    if (requestBody instanceof Readable) requestBody.destroy()
    if (this.#isOver) return
    // Only the end-of-stream flag is missing: by its length, the body is complete.
    if (this.#remaining === 0 && !this.aborted) {
      this.#end()
      return
    }
    this.#isOver = true
    const error = this.#hasResponse ? this.#bodyError() : this.#noResponseError()
    this.#call.onResponseError(this, error)
  }

  #bodyError(): Error {
    if (this.#failure !== undefined) return this.#failure
    const { isEnded, error } = this.#connection
    return isEnded ? error : connectionError('ECONNRESET', 'the server cut the response off')
  }

  /** Returns why there was no response, which decides whether the request may be sent again. */
  #noResponseError(): Error {
    if (this.#reason !== null) return this.#reason
    const connection = this.#connection
    const failure = this.#failure ?? connection.error
    const isRefused = this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    if (isRefused || connection.isUnprocessed(this.#stream)) {
      return new NoResponseError(connection.hasProcessedSome ? 'unprocessed' : 'busy', failure)
    }
    if (connection.isEnded) return failure
    return (
      this.#failure ??
      connectionError('ECONNRESET', 'the server ended the request without a response')
    )
  }
}

function headersOf(
  origin: string,
  { method, path, requestHeaders, requestBody }: Sendable,
): OutgoingHttpHeaders {
  return {
    ':method': method,
    ':scheme': 'https',
    ':authority': origin.slice('https://'.length),
    ':path': path,
    ...endToEnd(requestHeaders),
    ...(requestBody instanceof Uint8Array && { 'content-length': String(requestBody.length) }),
  }
}

/** Not allowed in HTTP/2 (RFC 9113, section 8.2.2), where the host is `:authority`. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

function endToEnd(headers: HeaderValues): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {}
  for (const name in headers) if (!CONNECTION_HEADERS.has(name)) kept[name] = headers[name]
  return kept
}

function withoutPseudo(given: IncomingHttpHeaders): ResponseHeaders {
  const headers: ResponseHeaders = {}
  for (const name in given) if (!name.startsWith(':')) headers[name] = given[name]
  return headers
}
