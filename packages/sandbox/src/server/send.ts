import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** An answer to a request. A body that is neither text nor bytes is sent as JSON. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
}

// The threshold of kube-apiserver, below which compression costs more than it saves.
const GZIP_FROM_BYTES = 128 * 1024

/** Sets the headers that kube-apiserver gives every answer. */
export function setCommonHeaders(response: ServerResponse, now: number): void {
  response.sendDate = false
  response.setHeader('Date', new Date(now).toUTCString())
  response.setHeader('Audit-Id', randomUUID())
  response.setHeader('Cache-Control', 'no-cache, private')
}

/** Sends a complete answer. */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
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
    response.setHeader(name, typeof value === 'string' ? value : [...value])
  }
  response.end(packed)
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

function maySendGzip(request: IncomingMessage, bytes: Buffer): boolean {
  if (bytes.length <= GZIP_FROM_BYTES) return false
  const accepted = String(request.headers['accept-encoding'] ?? '').split(',')
  return accepted.some((coding) => coding.split(';')[0]?.trim() === 'gzip')
}
