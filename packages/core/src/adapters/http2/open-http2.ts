import type { Readable } from 'node:stream'
import { ClosedError } from '../../errors/index.ts'
import { http2Exchange } from '../../exchange/http2.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { copyHeaders, type Http2Headers, outgoingHttp2 } from './outgoing-http2.ts'
import { targetOf } from './target-of.ts'

export type { Http2Headers } from './outgoing-http2.ts'

export interface Http2RequestOptions {
  /** A string is sent as UTF-8; set `content-type` yourself. */
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
}

/** An answer, as soon as its headers are there. */
export interface Http2Response {
  readonly status: number
  /** Without those that begin with a colon. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as it comes; destroying it ends the request. */
  readonly stream: Readable
}

/** Sends HTTP/2 requests to one cluster; made by `openHttp2`. */
export interface Http2Client extends AsyncDisposable {
  /**
   * Sends a request with the cluster's credential, and once more with a better one after a 401.
   *
   * `:path` is appended to the server's own path. An `authorization` of the caller's is sent in place of
   * ours, and nothing of ours with it.
   *
   * @throws {TypeError} A header or the method is none that can be sent; nothing was sent.
   * @throws {ForeignOriginError} The headers name another server; nothing was sent.
   * @throws {CredentialError} When no answer was had; an answer of 400 or more is one.
   */
  request(headers: Http2Headers, options?: Http2RequestOptions): Promise<Http2Response>
  /** Takes no more requests; resolves when the responses of those in flight have arrived, or were destroyed. */
  close(): Promise<void>
}

/** Connections belong to the credential and not to a client, so that all clients of an identity share them. */
const exchange = http2Exchange()

/**
 * Opens a way to send HTTP/2 requests under the identity of a connection.
 *
 * Nothing is sent before the first request. It ends with the cluster, or with `close()`.
 *
 * @example
 * const client = openHttp2(cluster)
 * const { status, stream } = await client.request({ ':path': '/api/v1/pods' })
 */
export function openHttp2(cluster: HasLine): Http2Client {
  return new LineHttp2Client(lineOf(cluster, 'openHttp2'))
}

class LineHttp2Client implements Http2Client {
  readonly #line: Line
  #inFlight = 0
  #isClosed = false
  readonly #closing: (() => void)[] = []

  constructor(line: Line) {
    this.#line = line
  }

  async request(given: Http2Headers, options: Http2RequestOptions = {}): Promise<Http2Response> {
    if (this.#isClosed) throw new ClosedError()
    const line = this.#line
    const headers = copyHeaders(given)
    const target = targetOf(headers, line)
    const outgoing = outgoingHttp2(headers, options, line.adapterHeaders)
    this.#inFlight += 1
    try {
      const call = await line.send(target, outgoing, exchange)
      // Not when it was read: many callers look at the status only.
      call.whenOver(() => this.#leave())
      return { status: call.statusCode, headers: call.headers, stream: call.body }
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#closing.push(resolve))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #leave(): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) for (const done of this.#closing.splice(0)) done()
  }
}
