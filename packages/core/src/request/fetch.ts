import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import type { Call } from './call.ts'
import { mergeHeaders } from './headers.ts'
import type { IncomingResponse } from './incoming-response.ts'
import type { Line } from './line.ts'
import { inMemory, type Outgoing, recorded } from './outgoing-request.ts'
import { findOn, type RequestTarget } from './request-target.ts'
import { makeResponse } from './response.ts'

/**
 * Does what the global `fetch` does, over a line.
 *
 * Not an async function: each promise costs every request time.
 */
export function fetchOver(
  line: Line,
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  try {
    line.checkOpen()
    const target = line.find(asRequest(input)?.url ?? (input as string | URL))
    const outgoing = makeOutgoing(input, init, line.defaults)
    if (outgoing instanceof Promise || init?.redirect !== undefined) {
      return fetchSlowly(line, target, outgoing, init?.redirect)
    }
    return new Promise((resolve, failed) => {
      const answered = (call: Call): void => resolve(makeResponse(call))
      line.call(target, outgoing, { answered, failed })
    })
  } catch (error) {
    return Promise.reject(error)
  }
}

async function fetchSlowly(
  line: Line,
  first: RequestTarget,
  made: Outgoing | Promise<Outgoing>,
  mode: RequestInit['redirect'],
): Promise<Response> {
  const outgoing = await made
  let call = await line.send(first, outgoing)
  for (let hops = 0; mode !== undefined && isRedirect(call); hops += 1) {
    const { method } = outgoing
    const { server } = call
    const next = followTo(call, call.target, { target: server, mode, method, hops })
    if (next === undefined) return makeResponse(call, { redirected: hops > 0 })
    call.discard()
    call = await line.send({ ...next, origin: server.origin }, outgoing)
  }
  return makeResponse(call, { redirected: call.target !== first })
}

/**
 * Turns what `fetch` was given into an outgoing request, on copies: nothing of the caller's changes.
 * Headers nobody set come from the defaults; if the caller set none, the result has the defaults themselves.
 *
 * Every body that the global classes allow is taken. Streams are recorded while they are sent, so that
 * a small one can be sent again after a 401.
 */
function makeOutgoing(
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
function asRequest(input: string | URL | Request): Request | undefined {
  if (typeof input === 'string' || input instanceof URL) return undefined
  return input instanceof Request ? input : undefined
}

async function withBody(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal' | 'asksCompressed'>,
  given: NonNullable<RequestInit['body']>,
): Promise<Outgoing> {
  const { content, type } = await readBody(given)
  const headers = { ...(type !== undefined && { 'content-type': type }), ...head.headers }
  if (content instanceof Uint8Array) return inMemory({ ...head, headers }, content)
  return recorded({ ...head, headers }, content)
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

const STATUSES = new Set([301, 302, 303, 307, 308])
const MAX_HOPS = 5

function isRedirect({ statusCode, headers }: IncomingResponse): boolean {
  return STATUSES.has(statusCode) && typeof headers['location'] === 'string'
}

interface Following {
  readonly target: Target
  readonly mode: RequestInit['redirect']
  readonly method: string
  readonly hops: number
}

/**
 * Where a redirect leads, if the caller wants it followed; undefined hands it back as it is.
 *
 * @throws {ForeignOriginError} When it leads to another origin: our credential is not for that one.
 */
function followTo(
  { headers }: IncomingResponse,
  from: RequestTarget,
  { target, mode, method, hops }: Following,
): RequestTarget | undefined {
  if (mode === 'error') throw new TypeError('the server redirects, and redirect is "error"')
  if (mode !== 'follow' || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (hops >= MAX_HOPS) throw new TypeError(`more than ${MAX_HOPS} redirects`)
  const location = String(headers['location'])
  const base = target.origin + from.pathname + from.search
  if (!URL.canParse(location, base)) {
    throw new ForeignOriginError('the server redirects to something that is not a URL')
  }
  return findOn(new URL(location, base), target)
}
