import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type Incoming, type Outgoing, sessionOf } from './exchange.ts'
import { retireSession } from './retire-session.ts'

/** An answer to a request. A body that is neither text nor bytes is sent as JSON. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  readonly body?: unknown
}

// The threshold of kube-apiserver, below which compression costs more than it saves.
const GZIP_FROM_BYTES = 128 * 1024
// RFC 9113 section 8.2.2: these belong to a connection, and HTTP/2 has no place for them.
const CONNECTION_HEADERS = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i

/** Sets the headers that kube-apiserver gives every answer. */
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
  const packed = maySendGzip(request, bytes) ? gzipSync(bytes, { level: 1 }) : bytes
  if (packed !== bytes) {
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Vary', 'Accept-Encoding')
  }
  response.setHeader('Content-Length', packed.length)
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    setHeader(request, response, name, typeof value === 'string' ? value : [...value])
  }
  response.end(packed)
  // What is left of a body that nobody wanted would keep an HTTP/2 stream open for ever.
  request.resume()
}

/** Begins an answer that goes on; its headers leave at once, not with the first bytes. */
export function beginStream(response: Outgoing, contentType: string): void {
  response.writeHead(200, { 'Content-Type': contentType })
  response.flushHeaders()
}

/** Go's server takes `Connection: close` on HTTP/2 as the wish to end the connection, and so do we. */
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
