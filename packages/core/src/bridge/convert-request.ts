import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { NotSupportedError } from '../errors/index.ts'
import { distinctHeaders } from '../exchange/distinct-headers.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import { mergeHeaders } from '../request/headers.ts'
import {
  MAX_RECORDED_BYTES,
  type OutgoingRequest,
  withBufferedBody,
  withStreamBody,
} from '../request/outgoing-request.ts'

/** Converts a request that a client sent over the bridge to an outgoing one. */
export function convertRequest(
  request: IncomingMessage,
  defaults: HeaderValues,
  signal: AbortSignal,
): OutgoingRequest | Promise<OutgoingRequest> {
  return toOutgoingRequest(request, mergeHeaders(defaults, headersOf(request)), signal)
}

/**
 * Converts a request that one of our servers received to an outgoing one, with the given headers.
 *
 * Returns it at once if there is no body. A small body is read first.
 */
export function toOutgoingRequest(
  request: IncomingMessage,
  headers: HeaderValues,
  signal: AbortSignal,
): OutgoingRequest | Promise<OutgoingRequest> {
  const head = { method: request.method ?? 'GET', headers, signal }
  const size = sizeOf(request)
  if (size === 0) return withBufferedBody(head, undefined)
  // As a whole, because a refusal that arrives before the end of the body could not be retried.
  if (size !== undefined && size <= MAX_RECORDED_BYTES) {
    return readAll(request).then((content) => withBufferedBody(head, content))
  }
  const length = size === undefined ? {} : { 'content-length': String(size) }
  return withStreamBody({ ...head, headers: { ...headers, ...length } }, detached(request))
}

/** Converts an upgrade request that a client sent over the bridge. The bytes after its headers are not a body. */
export function convertUpgrade(
  request: IncomingMessage,
  defaults: HeaderValues,
  signal: AbortSignal,
): OutgoingRequest {
  return toOutgoingUpgrade(request, mergeHeaders(defaults, headersOf(request)), signal)
}

/** Converts an upgrade request that one of our servers received, with the given headers. */
export function toOutgoingUpgrade(
  request: IncomingMessage,
  given: HeaderValues,
  signal: AbortSignal,
): OutgoingRequest {
  if (sizeOf(request) !== 0) {
    throw new NotSupportedError('an upgrade request cannot have a body', {
      hint: 'Remove the Upgrade header or the body.',
    })
  }
  const { upgrade = '' } = request.headers
  const headers = { ...given, upgrade }
  const head = { method: request.method ?? 'GET', headers, signal }
  return { ...withBufferedBody(head, undefined), isStream: true }
}

/** Keeps repeated headers apart: Impersonate-Group would change its meaning if joined. */
function headersOf({ rawHeaders }: IncomingMessage): HeaderValues {
  const headers: HeaderValues = {}
  for (const [name, values] of distinctHeaders(rawHeaders)) {
    // Headers that `Connection` names are kept: a client could otherwise remove its Authorization and get ours.
    if (DROPPED.has(name)) continue
    headers[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return headers
}

/** Hop-by-hop headers, which are not passed on. */
const DROPPED = new Set(['keep-alive', 'proxy-connection', 'te', 'expect', 'trailer', 'upgrade'])

/** Returns the size of the body in bytes; undefined if it is not known in advance. */
function sizeOf({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/**
 * Returns the body as a stream that can be destroyed.
 *
 * A server may respond before it has read the whole body. Destroying the request itself would end the connection, and
 * the client would not get the response.
 */
function detached(request: IncomingMessage): Readable {
  const body = new PassThrough()
  request.once('error', (error) => body.destroy(error))
  body.once('close', () => request.unpipe(body).resume())
  return request.pipe(body)
}
