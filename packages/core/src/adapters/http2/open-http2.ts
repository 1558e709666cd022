import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import { ClosedError, ForeignOriginError } from '../../errors/index.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import { http2Exchange } from '../../exchange/http2.ts'
import { requireAbility } from '../../node/runtime.ts'
import { mergeHeaders } from '../../request/headers.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import {
  type OutgoingRequest,
  withBufferedBody,
  withStreamBody,
} from '../../request/outgoing-request.ts'
import type { RequestTarget } from '../../request/request-target.ts'

/** Options of one request. */
export interface Http2RequestOptions {
  /** A string is sent as UTF-8; set `content-type` yourself. */
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
}

/** A response, as soon as its headers have arrived. */
export interface Http2Response {
  readonly status: number
  /** Without pseudo-headers, which begin with a colon. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as it arrives; destroying it ends the request. */
  readonly stream: Readable
}

/** Sends HTTP/2 requests to one cluster; made by `openHttp2`. */
export interface Http2Client extends AsyncDisposable {
  /**
   * Sends a request with the cluster's credential, and again with a new one after a 401.
   *
   * Resolves with every response, whatever its status. `:path` is appended to the server's own path. If the headers have
   * an `authorization`, it replaces ours, and the connection has no certificate of ours.
   *
   * @throws {TypeError} If a header or the method is invalid; nothing was sent.
   * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if the headers name another server; nothing was sent.
   * @throws {CredentialError} If there is no response.
   */
  request(headers: Http2Headers, options?: Http2RequestOptions): Promise<Http2Response>
  /** Accepts no more requests. Resolves when the responses of those in flight have arrived, or were destroyed. */
  close(): Promise<void>
}

/** Shared: connections belong to the credential, not to a client, so all clients of an identity use the same. */
const exchange = http2Exchange()

/**
 * Makes a client that sends HTTP/2 requests with the cluster's credential.
 *
 * Opens no connection before the first request. The client ends with the cluster, or with `close()`.
 *
 * @throws {TypeError} If `cluster` is not a `Cluster`.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` under Deno.
 *
 * @example
 * import { connect } from 'kubecred'
 * import { openHttp2 } from 'kubecred/http2'
 *
 * const cluster = await connect()
 * const client = openHttp2(cluster)
 * const { status, stream } = await client.request({ ':path': '/api/v1/pods' })
 */
export function openHttp2(cluster: HasLine): Http2Client {
  const line = lineOf(cluster, 'openHttp2')
  requireAbility('http2')
  return new LineHttp2Client(line)
}

class LineHttp2Client implements Http2Client {
  readonly #line: Line
  #inFlight = 0
  #isClosed = false
  readonly #closing: (() => void)[] = []

  constructor(line: Line) {
    this.#line = line
  }

  async request(given: Http2Headers, options: Http2RequestOptions = {}): Promise<Http2Response> {
    if (this.#isClosed) throw new ClosedError()
    const line = this.#line
    const headers = copyHeaders(given)
    const target = targetOf(headers, line)
    const outgoing = outgoingHttp2(headers, options, line.adapterHeaders)
    this.#inFlight += 1
    try {
      const call = await line.send(target, outgoing, exchange)
      // When it has arrived, not when it was read: many callers only look at the status.
      call.whenOver(() => this.#leave())
      return { status: call.statusCode, headers: call.headers, stream: call.body }
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#closing.push(resolve))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #leave(): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) for (const done of this.#closing.splice(0)) done()
  }
}

/** Headers and pseudo-headers of a request, as in `node:http2`. */
export interface Http2Headers {
  /** `GET` by default. */
  readonly ':method'?: string
  /** Begins with a slash and may have a query; `/` by default. */
  readonly ':path'?: string
  /** Must be that of the cluster if it is set. */
  readonly ':scheme'?: string
  /** Must be that of the cluster if it is set. */
  readonly ':authority'?: string
  readonly [name: string]: string | readonly string[] | undefined
}

/** Makes an outgoing request, without changing the caller's objects. */
function outgoingHttp2(
  given: HeaderValues,
  {
    body,
    signal,
  }: { readonly body?: string | Uint8Array | Readable; readonly signal?: AbortSignal },
  defaults: HeaderValues,
): OutgoingRequest {
  const head = {
    method: pseudo(given, ':method') ?? 'GET',
    headers: mergeHeaders(defaults, withoutPseudo(given)),
    signal,
  }
  if (body instanceof Readable) return withStreamBody(head, body)
  return withBufferedBody(head, typeof body === 'string' ? Buffer.from(body) : body)
}

const PSEUDO = new Set([':method', ':path', ':scheme', ':authority'])

/**
 * Copies headers, with names in lower case as in HTTP/2.
 *
 * Checks them all, because Node checks only some, and ends the whole connection for one that it cannot send.
 *
 * @throws {TypeError} Names the header, and never shows its value.
 */
function copyHeaders(given: Http2Headers): HeaderValues {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError("headers must be an object: client.request({ ':path': '/api' })")
  }
  const headers: HeaderValues = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const lower = name.toLowerCase()
    headers[lower] = PSEUDO.has(lower) ? pseudoValue(lower, value) : copy(name, value)
  }
  return headers
}

function pseudoValue(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  if (name === ':method') checkMethod(value)
  return value
}

function checkMethod(method: string): void {
  if (!isToken(method)) throw new TypeError(':method must be an HTTP method such as GET')
  if (method.toUpperCase() === 'CONNECT') {
    throw new TypeError(':method cannot be CONNECT; use kubecred/ws for connections through a pod')
  }
}

function copy(name: string, value: string | readonly string[]): string | string[] {
  const shown = JSON.stringify(name)
  if (!isToken(name)) throw new TypeError(`${shown} is not a valid header name`)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const each of values) {
    if (typeof each !== 'string') {
      throw new TypeError(`the header ${shown} must be a string or an array of strings`)
    }
    if (!isValue(name, each)) {
      throw new TypeError(`the header ${shown} contains an invalid character`)
    }
  }
  return typeof value === 'string' ? value : [...value]
}

function isToken(text: string): boolean {
  return passes(() => validateHeaderName(text))
}

function isValue(name: string, value: string): boolean {
  return passes(() => validateHeaderValue(name, value))
}

function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Returns a pseudo-header; there is at most one of each. */
function pseudo(headers: HeaderValues, name: `:${string}`): string | undefined {
  const value = headers[name]
  return value === undefined ? undefined : String(value)
}

function withoutPseudo(given: HeaderValues): HeaderValues {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')))
}

/**
 * Finds where a request goes, from its headers.
 *
 * If the logins name several servers, it goes to the one in the headers, or to any.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`; nothing was sent.
 */
function targetOf(headers: HeaderValues, line: Line): RequestTarget {
  const found = line.find(pseudo(headers, ':path') ?? '/')
  const named = namedOrigins(headers, line.target)
  const meant = line.hasServerPerLogin ? (found.origin ?? named[0]) : line.target.origin
  for (const each of named) if (each !== meant) throw foreign(each, line.target)
  return line.hasServerPerLogin && meant !== undefined ? { ...found, origin: meant } : found
}

/** Returns every origin that the headers name. */
function namedOrigins(headers: HeaderValues, target: Target): readonly string[] {
  const { protocol, host } = new URL(target.origin)
  const { ':scheme': scheme, ':authority': authority, host: other } = headers
  const named = [authority, other].filter((each) => each !== undefined)
  if (named.length === 0 && scheme !== undefined) named.push(host)
  return named.map((each) => {
    const asked = `${scheme ?? protocol.slice(0, -1)}://${each}`
    // Through a URL, which omits the default port.
    if (URL.canParse(asked)) return new URL(asked).origin
    throw foreign(asked, target)
  })
}

function foreign(asked: string, { origin }: Target): ForeignOriginError {
  return new ForeignOriginError(`${asked} is not this cluster (${origin})`, {
    hint: 'Leave out :scheme, :authority and host: the client sets them.',
  })
}
