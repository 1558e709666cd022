import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import type { Call } from './call.ts'
import { asksCompressed, mergeHeaders } from './headers.ts'
import type { IncomingResponse } from './incoming-response.ts'
import type { Line } from './line.ts'
import { type OutgoingRequest, withBufferedBody, withStreamBody } from './outgoing-request.ts'
import { findTarget, type RequestTarget } from './request-target.ts'
import { makeResponse } from './response.ts'

/**
 * Does what the global `fetch` does, over a line.
 *
 * Not an async function, because every promise adds to the time of every request.
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
      return fetchAsync(line, target, outgoing, init?.redirect)
    }
    return new Promise((resolve, failed) => {
      const answered = (call: Call): void => resolve(makeResponse(call))
      line.call(target, outgoing, { answered, failed })
    })
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Sends a request whose body must be read first, or whose redirects the caller wants followed. */
async function fetchAsync(
  line: Line,
  first: RequestTarget,
  pending: OutgoingRequest | Promise<OutgoingRequest>,
  mode: RequestInit['redirect'],
): Promise<Response> {
  const outgoing = await pending
  let call = await line.send(first, outgoing)
  for (let hops = 0; mode !== undefined && isRedirect(call); hops += 1) {
    const { method } = outgoing
    const { server } = call
    const next = redirectTarget(call, call.target, { target: server, mode, method, hops })
    if (next === undefined) return makeResponse(call, { redirected: hops > 0 })
    call.discard()
    call = await line.send({ ...next, origin: server.origin }, outgoing)
  }
  return makeResponse(call, { redirected: call.target !== first })
}

/**
 * Converts the arguments of `fetch` to an outgoing request, without changing the caller's objects.
 *
 * Headers that the caller did not set come from the defaults; if the caller set none, the result has the defaults
 * object itself. Accepts every body that the global classes accept. Streams are recorded while they are sent, so that a
 * small one can be sent again after a 401.
 */
function makeOutgoing(
  input: string | URL | Request,
  init: RequestInit = {},
  defaults: HeaderValues = {},
): OutgoingRequest | Promise<OutgoingRequest> {
  const request = asRequest(input)
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase()
  const given = init.headers ?? request?.headers
  const own = given && readHeaders(given)
  const headers = own === undefined ? defaults : mergeHeaders(defaults, own)
  const signal = init.signal ?? request?.signal ?? undefined
  const isOurs = asksCompressed(defaults, own)
  const body = init.body ?? request?.body ?? undefined
  if (body === undefined) {
    return { method, headers, signal, asksCompressed: isOurs, body: noBody, canReplay: always }
  }
  if (method === 'GET' || method === 'HEAD') {
    throw new TypeError(`a ${method} request cannot have a body`)
  }
  return withBody({ method, headers, signal, asksCompressed: isOurs }, body)
}

/** Checks for `Request` last: the global class is loaded on first use, which takes time. */
function asRequest(input: string | URL | Request): Request | undefined {
  if (typeof input === 'string' || input instanceof URL) return undefined
  return input instanceof Request ? input : undefined
}

async function withBody(
  head: Pick<OutgoingRequest, 'method' | 'headers' | 'signal' | 'asksCompressed'>,
  body: NonNullable<RequestInit['body']>,
): Promise<OutgoingRequest> {
  const { content, type } = await readBody(body)
  const headers = { ...(type !== undefined && { 'content-type': type }), ...head.headers }
  if (content instanceof Uint8Array) return withBufferedBody({ ...head, headers }, content)
  return withStreamBody({ ...head, headers }, content)
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
  // Before the check for an iterable, which it also is: a stream may fail before it is iterated.
  if ((body as unknown) instanceof Readable) return { content: body as unknown as Readable }
  if (isAsyncIterable(body)) return { content: Readable.from(body) }
  // Everything else that fetch accepts (bytes, forms, blobs) is encoded by the global Response, as the standard says.
  const encoded = new Response(body as ConstructorParameters<typeof Response>[0])
  const type = encoded.headers.get('content-type')
  const content = new Uint8Array(await encoded.arrayBuffer())
  return { content, ...(type !== null && { type }) }
}

function isAsyncIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])
const MAX_REDIRECTS = 5

function isRedirect({ statusCode, headers }: IncomingResponse): boolean {
  return REDIRECT_STATUSES.has(statusCode) && typeof headers['location'] === 'string'
}

interface RedirectRequest {
  readonly target: Target
  readonly mode: RequestInit['redirect']
  readonly method: string
  readonly hops: number
}

/**
 * Returns where a redirect leads if the caller wants it followed, and undefined if the caller gets it as it is.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if it leads to another origin, which must not get our credential.
 */
function redirectTarget(
  { headers }: IncomingResponse,
  from: RequestTarget,
  { target, mode, method, hops }: RedirectRequest,
): RequestTarget | undefined {
  if (mode === 'error') throw new TypeError('the server redirects, and redirect is "error"')
  if (mode !== 'follow' || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (hops >= MAX_REDIRECTS) throw new TypeError(`more than ${MAX_REDIRECTS} redirects`)
  const location = String(headers['location'])
  const base = target.origin + from.pathname + from.search
  if (!URL.canParse(location, base)) {
    throw new ForeignOriginError('the server redirects to an invalid URL')
  }
  return findTarget(new URL(location, base), target)
}
