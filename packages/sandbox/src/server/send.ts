import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type Incoming, type Outgoing, sessionOf } from './exchange.ts'
import { retireSession } from './retire-session.ts'

/** The answer to a request. A body that is neither a string nor bytes is sent as JSON. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  readonly body?: unknown
}

// The threshold of kube-apiserver.
const GZIP_FROM_BYTES = 128 * 1024
// RFC 9113 section 8.2.2: connection-specific headers are not allowed in HTTP/2.
const CONNECTION_HEADERS = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i

/** Sets the headers of every kube-apiserver response. */
export function setCommonHeaders(response: Outgoing, now: number): void {
  response.sendDate = false
  response.setHeader('Date', new Date(now).toUTCString())
  response.setHeader('Audit-Id', randomUUID())
  response.setHeader('Cache-Control', 'no-cache, private')
}

/** Sends a complete answer. */
export function send(request: Incoming, response: Outgoing, answer: Answer): void {
  const { bytes, type } = encode(answer.body)
  response.statusCode = answer.status
  response.setHeader('Content-Type', type)
  const encoded = maySendGzip(request, bytes) ? gzipSync(bytes, { level: 1 }) : bytes
  if (encoded !== bytes) {
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Vary', 'Accept-Encoding')
  }
  response.setHeader('Content-Length', encoded.length)
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    setHeader(request, response, name, typeof value === 'string' ? value : [...value])
  }
  response.end(encoded)
  // An unread request body would keep an HTTP/2 stream open.
  request.resume()
}

/** Begins a streaming response. Its headers are sent immediately, not with the first bytes. */
export function beginStream(response: Outgoing, contentType: string): void {
  response.writeHead(200, { 'Content-Type': contentType })
  response.flushHeaders()
}

/** Sets a header. On HTTP/2, `Connection: close` closes the connection, as in Go's server. */
function setHeader(
  request: Incoming,
  response: Outgoing,
  name: string,
  value: string | string[],
): void {
  const isForbidden = sessionOf(request) !== undefined && CONNECTION_HEADERS.test(name)
  if (!isForbidden) response.setHeader(name, value)
  else if (/^connection$/i.test(name) && /^close$/i.test(String(value))) retireSession(request)
}

function encode(body: unknown): { bytes: Buffer; type: string } {
  if (body === undefined) return { bytes: Buffer.alloc(0), type: 'text/plain; charset=utf-8' }
  if (body instanceof Uint8Array) {
    return { bytes: Buffer.from(body), type: 'application/octet-stream' }
  }
  if (typeof body === 'string') {
    return { bytes: Buffer.from(body), type: 'text/plain; charset=utf-8' }
  }
  return { bytes: Buffer.from(`${JSON.stringify(body)}\n`), type: 'application/json' }
}

function maySendGzip(request: Incoming, bytes: Buffer): boolean {
  if (bytes.length <= GZIP_FROM_BYTES) return false
  const accepted = String(request.headers['accept-encoding'] ?? '').split(',')
  return accepted.some((coding) => coding.split(';')[0]?.trim() === 'gzip')
}
