import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'

/** A request over HTTP/1.1 or HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest

/**
 * A response over HTTP/1.1 or HTTP/2.
 *
 * Node's two classes have overloads that TypeScript cannot call as a union; this is their common part.
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

/** A client's request to switch its connection to another protocol. */
export interface Upgrade {
  /** The bytes that the client has sent after its request. */
  readonly head: Buffer
  /** Accepts the upgrade and returns the socket. The caller must write the 101 response. */
  take(): Duplex
}

/** A request with its response. */
export interface Exchange {
  readonly request: Incoming
  readonly response: Outgoing
  readonly upgrade?: Upgrade
}

/** Returns the HTTP/2 session of a request; undefined for HTTP/1.1. */
export function sessionOf(request: Incoming): ServerHttp2Session | undefined {
  return 'stream' in request ? (request.stream.session as ServerHttp2Session) : undefined
}

/** Returns the headers of a request as in HTTP/1.1: with `host` and without pseudo-headers. */
export function headersOf(request: Incoming): IncomingHttpHeaders {
  if (!('stream' in request)) return request.headers
  const { authority } = request
  const named = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'))
  return { ...(authority === '' ? {} : { host: authority }), ...Object.fromEntries(named) }
}

/** Returns all values of all headers as the client sent them, by lower-case name. */
export function headerValues(request: Incoming): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const raw = request.rawHeaders
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    found.set(name, [...(found.get(name) ?? []), raw[at + 1] ?? ''])
  }
  return found
}
