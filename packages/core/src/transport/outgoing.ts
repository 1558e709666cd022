import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { type HeaderValues, mergeHeaders } from './default-headers.ts'
import { RecordedBody } from './recorded-body.ts'

/** A request in the form our transports take, made from the global classes. */
export interface Outgoing {
  readonly method: string
  readonly headers: HeaderValues
  readonly signal: AbortSignal | undefined
  /** The body for one try; call it again for the next. */
  readonly body: () => Uint8Array | Readable | undefined
  /** Why the caller's own stream failed, if it did: that is not the server's fault. */
  readonly bodyError?: () => unknown
  /** Set when the answer stays open by design, whatever the path says: a connection that is handed over. */
  readonly isStream?: boolean
  /** Set when only we ask for a compressed answer, which the login may not want. */
  readonly asksCompressed?: boolean
  /** Whether `body` can be called again. */
  readonly canReplay: () => boolean
}

/**
 * Turns what `fetch` was given into an outgoing request, on copies: nothing of the caller's changes.
 * Headers nobody set come from the defaults; if the caller set none, the result has the defaults themselves.
 *
 * Every body that the global classes allow is taken. Streams are recorded while they are sent, so that
 * a small one can be sent again after a 401.
 */
export function makeOutgoing(
  input: string | URL | Request,
  init: RequestInit = {},
  defaults: HeaderValues = {},
): Outgoing | Promise<Outgoing> {
  const request = asRequest(input)
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase()
  const given = init.headers ?? request?.headers
  const own = given && readHeaders(given)
  const headers = own === undefined ? defaults : mergeHeaders(defaults, own)
  const asksCompressed =
    defaults['accept-encoding'] !== undefined && own?.['accept-encoding'] === undefined
  const signal = init.signal ?? request?.signal ?? undefined
  const body = init.body ?? request?.body ?? undefined
  if (body === undefined) {
    return { method, headers, signal, asksCompressed, body: noBody, canReplay: always }
  }
  if (method === 'GET' || method === 'HEAD') {
    throw new TypeError(`a ${method} request cannot have a body`)
  }
  return withBody({ method, headers, signal, asksCompressed }, body)
}

/** Looks at the class last: the global one is loaded when first touched, and takes its time. */
export function asRequest(input: string | URL | Request): Request | undefined {
  if (typeof input === 'string' || input instanceof URL) return undefined
  return input instanceof Request ? input : undefined
}

async function withBody(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal' | 'asksCompressed'>,
  given: NonNullable<RequestInit['body']>,
): Promise<Outgoing> {
  const { content, type } = await readBody(given)
  const headers = { ...(type !== undefined && { 'content-type': type }), ...head.headers }
  if (content instanceof Uint8Array) {
    return { ...head, headers, body: () => content, canReplay: always }
  }
  const recorded = new RecordedBody(content)
  return {
    ...head,
    headers,
    body: () => recorded.open(),
    canReplay: () => recorded.isWhole,
    bodyError: () => recorded.error,
  }
}

const noBody = (): undefined => undefined
const always = (): boolean => true

function readHeaders(given: NonNullable<RequestInit['headers']>): HeaderValues {
  const headers: HeaderValues = {}
  for (const [name, value] of given instanceof Headers ? given : new Headers(given)) {
    headers[name] = value
  }
  return headers
}

interface ReadBody {
  readonly content: Uint8Array | Readable
  readonly type?: string
}

async function readBody(body: NonNullable<RequestInit['body']>): Promise<ReadBody> {
  if (typeof body === 'string') {
    return { content: new TextEncoder().encode(body), type: 'text/plain;charset=UTF-8' }
  }
  if (body instanceof ReadableStream) {
    return { content: Readable.fromWeb(body as NodeReadableStream) }
  }
  // Not as the iterable that it also is: it may fail before anybody iterates.
  if ((body as unknown) instanceof Readable) return { content: body as unknown as Readable }
  if (isAsyncIterable(body)) return { content: Readable.from(body) }
  // Whatever else fetch takes (bytes, forms, blobs), the global Response encodes as the standard says.
  const encoded = new Response(body as ConstructorParameters<typeof Response>[0])
  const type = encoded.headers.get('content-type')
  const content = new Uint8Array(await encoded.arrayBuffer())
  return { content, ...(type !== null && { type }) }
}

function isAsyncIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
