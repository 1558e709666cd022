import {
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { Readable } from 'node:stream'
import { type Sendable, sendBody } from './exchange.ts'
import { type Controller, NoResponseError } from './handler.ts'
import { connectionError, type Http2Connection } from './http2-connection.ts'

/**
 * Sends a request as a stream of a connection on which a place is reserved for it.
 *
 * @returns False if the connection no longer accepts streams: nothing was sent, and the place was given back.
 */
export function sendStream(connection: Http2Connection, origin: string, call: Sendable): boolean {
  const { isUsable } = connection
  const { requestBody } = call
  let stream: ClientHttp2Stream
  try {
    stream = connection.open(headersOf(origin, call), optionsOf(call))
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
  if (requestBody !== undefined) sendBody(requestBody, stream, (error) => sent.abort(error))
  return true
}

/** Nothing for a GET, whose stream Node ends by itself: Node 20 is slow to complete options that are given. */
function optionsOf({ method, requestBody }: Sendable): ClientSessionRequestOptions | undefined {
  const endStream = requestBody === undefined
  return endStream && method === 'GET' ? undefined : { endStream }
}

/**
 * The stream of a request: reports its events to the call, and is its controller.
 *
 * Every listener adds to the time of every request, and on these streams most of all: Node itself listens for new ones.
 */
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
  /** Data that arrived with the headers, which Node reports a little later. */
  #early: Buffer[] | undefined
  /** The bytes that have not arrived yet, if the server sent a Content-Length. */
  #remaining: number | undefined

  constructor(connection: Http2Connection, stream: ClientHttp2Stream, call: Sendable) {
    this.#connection = connection
    this.#stream = stream
    this.#call = call
    stream.on('error', (error) => {
      this.#failure ??= error
    })
    stream.on('response', (headers) => this.#begin(headers))
    // From the beginning: then Node passes data on without keeping it first.
    stream.on('data', (chunk: Buffer) => this.#data(chunk))
    stream.on('end', () => this.#endOfData())
    stream.on('close', () => this.#close())
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
    if (this.#hasResponse) return
    const { ':status': status = 0, 'content-length': length } = headers
    this.#hasResponse = true
    this.#remaining = length === undefined ? undefined : Number(length)
    delete headers[':status']
    this.#call.onResponseStart(this, status, headers)
    const early = this.#early
    this.#early = undefined
    if (early !== undefined) for (const chunk of early) this.#data(chunk)
  }

  #data(chunk: Buffer): void {
    if (!this.#hasResponse) {
      this.#early ??= []
      this.#early.push(chunk)
      return
    }
    if (this.#remaining !== undefined) this.#remaining -= chunk.length
    this.#call.onResponseData(this, chunk)
  }

  #endOfData(): void {
    // Node also ends a stream when its connection was closed in the middle of it.
    const isComplete = this.#stream.rstCode === constants.NGHTTP2_NO_ERROR
    if (this.#hasResponse && isComplete) this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call.onResponseEnd(this, {})
  }

  #close(): void {
    this.#connection.leave()
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
  const headers: OutgoingHttpHeaders = {
    ':method': method,
    ':scheme': 'https',
    ':authority': origin.slice('https://'.length),
    ':path': path,
  }
  for (const name in requestHeaders) {
    if (!CONNECTION_HEADERS.has(name)) headers[name] = requestHeaders[name]
  }
  if (requestBody instanceof Uint8Array) headers['content-length'] = String(requestBody.length)
  return headers
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
