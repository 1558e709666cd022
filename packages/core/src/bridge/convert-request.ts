import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { NotSupportedError } from '../errors/index.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import { mergeHeaders } from '../request/headers.ts'
import { inMemory, MOST_RECORDED, type Outgoing, recorded } from '../request/outgoing-request.ts'

/** Makes an outgoing request from one that a client sent over the bridge. */
export function bridgedRequest(
  request: IncomingMessage,
  defaults: HeaderValues,
  signal: AbortSignal,
): Outgoing | Promise<Outgoing> {
  return toOutgoingRequest(request, mergeHeaders(defaults, headersOf(request)), signal)
}

/**
 * Makes an outgoing request from one that a server of ours took, with headers that are ready to be sent.
 *
 * At once where there is no body; a small one is read first.
 */
export function toOutgoingRequest(
  request: IncomingMessage,
  headers: HeaderValues,
  signal: AbortSignal,
): Outgoing | Promise<Outgoing> {
  const head = { method: request.method ?? 'GET', headers, signal }
  const size = sizeOf(request)
  if (size === 0) return inMemory(head, undefined)
  // All of it first: an answer that comes before its end could not be tried again.
  if (size !== undefined && size <= MOST_RECORDED) {
    return readAll(request).then((content) => inMemory(head, content))
  }
  const length = size === undefined ? {} : { 'content-length': String(size) }
  return recorded({ ...head, headers: { ...headers, ...length } }, detached(request))
}

/** Makes an outgoing request from one that asks for another protocol. What follows it is no body. */
export function bridgedUpgrade(
  request: IncomingMessage,
  defaults: HeaderValues,
  signal: AbortSignal,
): Outgoing {
  return toOutgoingUpgrade(request, mergeHeaders(defaults, headersOf(request)), signal)
}

/** The same with headers that are ready to be sent. */
export function toOutgoingUpgrade(
  request: IncomingMessage,
  ready: HeaderValues,
  signal: AbortSignal,
): Outgoing {
  if (sizeOf(request) !== 0) {
    throw new NotSupportedError('a request that asks for another protocol cannot have a body', {
      hint: 'Leave out either the Upgrade header or the body.',
    })
  }
  const { upgrade = '' } = request.headers
  const headers = { ...ready, upgrade }
  const head = { method: request.method ?? 'GET', headers, signal }
  return { ...inMemory(head, undefined), isStream: true }
}

/** Repeated headers stay apart: Impersonate-Group means something else when joined. */
function headersOf({ headersDistinct }: IncomingMessage): HeaderValues {
  const headers: HeaderValues = {}
  for (const [name, values] of Object.entries(headersDistinct)) {
    // Not what `Connection` names: whoever wrote it could so take an Authorization off, and get ours.
    if (values === undefined || DROPPED.has(name)) continue
    headers[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return headers
}

/** Between the client and us alone. */
const DROPPED = new Set(['keep-alive', 'proxy-connection', 'te', 'expect', 'trailer', 'upgrade'])

/** In bytes; undefined when only the end will tell. */
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
 * The body as a stream that may be given up.
 *
 * A server may answer before it has read everything. To destroy the request itself would end the
 * connection, and the client would never see that answer.
 */
function detached(request: IncomingMessage): Readable {
  const body = new PassThrough()
  request.once('error', (error) => body.destroy(error))
  body.once('close', () => request.unpipe(body).resume())
  return request.pipe(body)
}
