import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'

/** A request as it arrives, over HTTP/1.1 or HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest

/**
 * The answer to a request, over HTTP/1.1 or HTTP/2.
 *
 * Node's two classes have overloads that TypeScript cannot call as a union; this is what they share.
 */
export interface Outgoing {
  statusCode: number
  sendDate: boolean
  setHeader(name: string, value: number | string | string[]): unknown
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  flushHeaders(): void
  write(text: string): boolean
  end(data?: string | Uint8Array): unknown
  destroy(): unknown
  once(event: 'close' | 'error', listener: () => void): unknown
}

/** A client's wish to use its connection for something else than HTTP. */
export interface Upgrade {
  /** What the client sent behind its request already. */
  readonly head: Buffer
  /** Grants the wish: the answer is 101, and writing it is the taker's business. */
  take(): Duplex
}

/** One request and what becomes of it. */
export interface Exchange {
  readonly request: Incoming
  readonly response: Outgoing
  readonly upgrade?: Upgrade
}

/** The HTTP/2 session that carries a request; none for HTTP/1.1. */
export function sessionOf(request: Incoming): ServerHttp2Session | undefined {
  return 'stream' in request ? (request.stream.session as ServerHttp2Session) : undefined
}

/** The headers of a request, in the words of HTTP/1.1: `host`, and nothing that begins with a colon. */
export function headersOf(request: Incoming): IncomingHttpHeaders {
  if (!('stream' in request)) return request.headers
  const { authority } = request
  const named = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'))
  return { ...(authority === '' ? {} : { host: authority }), ...Object.fromEntries(named) }
}

/** Every value of every header as a client sent it, by lower-case name. */
export function headerValues(request: Incoming): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const raw = request.rawHeaders
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    found.set(name, [...(found.get(name) ?? []), raw[at + 1] ?? ''])
  }
  return found
}
