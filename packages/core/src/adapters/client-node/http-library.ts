import type { HeaderValues } from '../../exchange/exchange.ts'
import type { ResponseHeaders } from '../../exchange/handler.ts'
import { lackOf } from '../../node/runtime.ts'
import type { Call } from '../../request/call.ts'
import { mergeHeaders } from '../../request/headers.ts'
import type { OutgoingRequest } from '../../request/outgoing-request.ts'
import { makeResponse } from '../../request/response.ts'
import type { RequestContextLike } from './attach-options.ts'
import { type ClientTransport, failingTransport, type LineProvider } from './client-transport.ts'

/** The `RequestContext` that a generated API gives to its HTTP library. */
export interface SendableContext extends RequestContextLike {
  getUrl(): string
  getHttpMethod(): unknown
  getBody(): unknown
  /** From 1.4 on. */
  getSignal?(): unknown
  getAgent?(): object | undefined
  getDispatcher?(): object | undefined
}

/** What sends the requests of generated APIs: `httpApi` of their configuration. */
export interface HttpLibrary {
  send(request: SendableContext): Observed<ResponseContextLike>
}

/** The part of client-node's `Observable` that it uses. It wraps a promise. */
export interface Observed<T> {
  toPromise(): Promise<T>
  pipe<R>(callback: (value: T) => R | Promise<R>): Observed<R>
}

/** Returns the transport that authenticated a request; undefined if client-node did it, or another program. */
export type FindTransport = (request: SendableContext) => ClientTransport | undefined

/**
 * Sends the requests of generated APIs over the line.
 *
 * They could also take the agent or dispatcher of the transport, as everything else does, but the fetch of client-node
 * costs several times as much as the request itself. It still does what is rare: bodies other than text and bytes,
 * redirects, and the errors, so that programs get the classes and texts that they know.
 */
export class LineHttpLibrary implements HttpLibrary {
  readonly #own: HttpLibrary
  readonly #find: FindTransport

  /** @param own The library of client-node. */
  constructor(own: HttpLibrary, find: FindTransport) {
    const lack = lackOf('agents of fetch')
    this.#own = lack === undefined ? own : { send: () => observe(Promise.reject(lack)) }
    this.#find = find
  }

  send(request: SendableContext): Observed<ResponseContextLike> {
    const transport = this.#find(request)
    if (transport === undefined || !isPlain(request)) return this.#own.send(request)
    const response = exchange(transport, request).then(
      (call) => this.#respond(request, call),
      (error: unknown) => this.#fail(request, error),
    )
    return observe(response)
  }

  #respond(
    request: SendableContext,
    call: Call,
  ): ResponseContextLike | Promise<ResponseContextLike> {
    const redirected = followRedirect(request, call)
    if (redirected === undefined) {
      return new ResponseContextLike(call, (error) => this.#fail(request, error))
    }
    call.discard()
    return this.#own.send(redirected).toPromise()
  }

  /** Fails as the library of client-node does for an error of its connection. Nothing is sent. */
  async #fail(request: SendableContext, error: unknown): Promise<never> {
    if (lackOf('agents of fetch') !== undefined) throw error
    const { agent, dispatcher } = failingTransport(error, new URL(request.getUrl()).protocol)
    await this.#own
      .send(alter(request, { getAgent: () => agent, getDispatcher: () => dispatcher }))
      .toPromise()
    throw error
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Headers about the connection, which the bridge handles. */
const HOP_BY_HOP = new Set(['expect', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'])

/** Whether the line can send a request as it is: nearly always. */
function isPlain(request: SendableContext): boolean {
  const method = String(request.getHttpMethod())
  const body = request.getBody() ?? undefined
  const signal = request.getSignal?.()
  const hasBody = body !== undefined
  return (
    METHODS.has(method) &&
    (!hasBody || typeof body === 'string' || body instanceof Uint8Array) &&
    // The fetch of client-node rejects such a body.
    !(hasBody && (method === 'GET' || method === 'HEAD')) &&
    (signal === undefined || signal instanceof AbortSignal) &&
    !Object.keys(request.getHeaders()).some((name) => HOP_BY_HOP.has(name.toLowerCase()))
  )
}

/** Sends a request, and keeps its cluster open until the response has ended. */
async function exchange(provider: LineProvider, request: SendableContext): Promise<Call> {
  const release = provider.hold()
  try {
    const signal = request.getSignal?.() as AbortSignal | undefined
    const opening = provider.line()
    const line = opening instanceof Promise ? await untilAborted(opening, signal) : opening
    const outgoing = outgoingRequest(request, line.defaults, signal)
    const call = await line.send(line.find(request.getUrl()), outgoing)
    call.whenOver(release)
    return call
  } catch (error) {
    release()
    throw error
  }
}

function outgoingRequest(
  request: SendableContext,
  defaults: HeaderValues,
  signal: AbortSignal | undefined,
): OutgoingRequest {
  const own = ownHeaders(request)
  const body = request.getBody() as string | Uint8Array | null | undefined
  const content = typeof body === 'string' ? Buffer.from(body) : (body ?? undefined)
  if (typeof body === 'string') own['content-type'] ??= 'text/plain;charset=UTF-8'
  return {
    method: String(request.getHttpMethod()),
    headers: mergeHeaders(defaults, own),
    signal,
    asksCompressed: own['accept-encoding'] === undefined,
    body: () => content,
    canReplay: () => true,
  }
}

/** Returns the headers of a request in lower case; those that differ only in case are all sent. */
function ownHeaders(request: SendableContext): HeaderValues {
  const headers: HeaderValues = {}
  for (const [given, value] of Object.entries(request.getHeaders())) {
    const name = given.toLowerCase()
    const before = headers[name]
    headers[name] = before === undefined ? String(value) : [before, String(value)].flat()
  }
  return headers
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Returns the request that a redirect asks for, with the method of the Fetch standard; undefined if there is none. */
function followRedirect(
  request: SendableContext,
  { statusCode, headers }: Call,
): SendableContext | undefined {
  const { location } = headers
  if (!REDIRECTS.has(statusCode) || typeof location !== 'string') return undefined
  if (!URL.canParse(location, request.getUrl())) return undefined
  const url = new URL(location, request.getUrl()).href
  const method = String(request.getHttpMethod())
  const becomesGet =
    (statusCode === 303 && method !== 'HEAD') || (statusCode < 303 && method === 'POST')
  return alter(request, {
    getUrl: () => url,
    ...(becomesGet && { getHttpMethod: () => 'GET', getBody: () => undefined }),
  })
}

/** Returns a copy with other answers: the program, or its middleware, may keep the request itself. */
function alter(request: SendableContext, methods: Partial<SendableContext>): SendableContext {
  return Object.assign(Object.create(request) as SendableContext, methods)
}

function observe<T>(promise: Promise<T>): Observed<T> {
  return {
    toPromise: () => promise,
    pipe: (callback) => observe(promise.then(callback)),
  }
}

/** What client-node's `ResponseContext` is: its class cannot be imported, because its version is the program's choice. */
export class ResponseContextLike {
  httpStatusCode: number
  headers: Record<string, string>
  body: ResponseBody

  /** @param fail Converts the error of a body that broke off. */
  constructor(call: Call, fail: (error: unknown) => Promise<never>) {
    const response = makeResponse(call)
    this.httpStatusCode = call.statusCode
    this.headers = joinHeaders(call.headers)
    this.body = {
      text: () => response.text().catch(fail),
      binary: () => response.arrayBuffer().then((bytes) => Buffer.from(bytes), fail),
      stream: () => response.body,
    }
  }

  /** Splits a header of the form `value; name="value"`; the first value has the empty name. */
  getParsedHeader(headerName: string): Record<string, string> {
    const parsed: Record<string, string> = {}
    for (const parameter of this.headers[headerName]?.split(';') ?? []) {
      const [name = '', value] = parameter.split('=', 2).map((part) => part.trim())
      if (name === '') continue
      if (value === undefined) parsed[''] = name.toLowerCase()
      else parsed[name.toLowerCase()] = value.replace(/^"(.*)"$/, '$1')
    }
    return parsed
  }

  async getBodyAsFile(): Promise<{ data: Buffer; name: string }> {
    const { filename: name = '' } = this.getParsedHeader('content-disposition')
    return { data: await this.body.binary(), name }
  }

  getBodyAsAny(): Promise<string> {
    return this.body.text()
  }
}

interface ResponseBody {
  text(): Promise<string>
  binary(): Promise<Buffer>
  /** In 2.x. */
  stream(): ReadableStream<Uint8Array> | null
}

function joinHeaders(given: ResponseHeaders): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
