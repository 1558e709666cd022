import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import { ClosedError, ForeignOriginError } from '../../errors/index.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import { http2Exchange } from '../../exchange/http2.ts'
import { mergeHeaders } from '../../request/headers.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { inMemory, type Outgoing, recorded } from '../../request/outgoing-request.ts'
import type { RequestTarget } from '../../request/request-target.ts'

export interface Http2RequestOptions {
  /** A string is sent as UTF-8; set `content-type` yourself. */
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
}

/** An answer, as soon as its headers are there. */
export interface Http2Response {
  readonly status: number
  /** Without those that begin with a colon. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as it comes; destroying it ends the request. */
  readonly stream: Readable
}

/** Sends HTTP/2 requests to one cluster; made by `openHttp2`. */
export interface Http2Client extends AsyncDisposable {
  /**
   * Sends a request with the cluster's credential, and once more with a better one after a 401.
   *
   * `:path` is appended to the server's own path. An `authorization` of the caller's is sent in place of
   * ours, and nothing of ours with it.
   *
   * @throws {TypeError} A header or the method is none that can be sent; nothing was sent.
   * @throws {ForeignOriginError} The headers name another server; nothing was sent.
   * @throws {CredentialError} When no answer was had; an answer of 400 or more is one.
   */
  request(headers: Http2Headers, options?: Http2RequestOptions): Promise<Http2Response>
  /** Takes no more requests; resolves when the responses of those in flight have arrived, or were destroyed. */
  close(): Promise<void>
}

/** Connections belong to the credential and not to a client, so that all clients of an identity share them. */
const exchange = http2Exchange()

/**
 * Opens a way to send HTTP/2 requests under the identity of a connection.
 *
 * Nothing is sent before the first request. It ends with the cluster, or with `close()`.
 *
 * @example
 * const client = openHttp2(cluster)
 * const { status, stream } = await client.request({ ':path': '/api/v1/pods' })
 */
export function openHttp2(cluster: HasLine): Http2Client {
  return new LineHttp2Client(lineOf(cluster, 'openHttp2'))
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
      // Not when it was read: many callers look at the status only.
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

/** Headers of a request; those that begin with a colon say what and where, as in Node's own `http2`. */
export interface Http2Headers {
  /** GET unless told. */
  readonly ':method'?: string
  /** Begins with a slash and may have a query. `/` unless told. */
  readonly ':path'?: string
  /** Where given, these must be the cluster's own. */
  readonly ':scheme'?: string
  readonly ':authority'?: string
  readonly [name: string]: string | readonly string[] | undefined
}

/** Makes an outgoing request; nothing of the caller's changes. */
function outgoingHttp2(
  given: HeaderValues,
  {
    body,
    signal,
  }: { readonly body?: string | Uint8Array | Readable; readonly signal?: AbortSignal },
  defaults: HeaderValues,
): Outgoing {
  const head = {
    method: pseudo(given, ':method') ?? 'GET',
    headers: mergeHeaders(defaults, ordinary(given)),
    signal,
  }
  if (body instanceof Readable) return recorded(head, body)
  return inMemory(head, typeof body === 'string' ? Buffer.from(body) : body)
}

const PSEUDO = new Set([':method', ':path', ':scheme', ':authority'])

/**
 * Names in lower case, as HTTP/2 has them; values as they are.
 *
 * Node does not look at all of them, and ends the whole connection when one cannot be sent.
 *
 * @throws {TypeError} It names the header, and never shows its value.
 */
function copyHeaders(given: Http2Headers): HeaderValues {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError("The headers must be an object: client.request({ ':path': '/api' })")
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
  if (!isToken(method)) throw new TypeError(':method is no HTTP method; use one such as GET')
  if (method.toUpperCase() === 'CONNECT') {
    throw new TypeError(':method cannot be CONNECT; use kubecred/ws for connections through a pod')
  }
}

function copy(name: string, value: string | readonly string[]): string | string[] {
  const shown = JSON.stringify(name)
  if (!isToken(name)) throw new TypeError(`${shown} cannot be the name of a header`)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const each of values) {
    if (typeof each !== 'string') {
      throw new TypeError(`The header ${shown} must be a string or a list of strings`)
    }
    if (!isValue(name, each)) {
      throw new TypeError(`The header ${shown} has a character that no header may have`)
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

/** A header that says what or where; there is only one of each. */
function pseudo(headers: HeaderValues, name: `:${string}`): string | undefined {
  const value = headers[name]
  return value === undefined ? undefined : String(value)
}

function ordinary(given: HeaderValues): HeaderValues {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')))
}

/**
 * Finds where the headers of a request lead.
 *
 * Where logins name several servers, it is the one that the headers name, or any.
 *
 * @throws {ForeignOriginError} Nothing was sent.
 */
function targetOf(headers: HeaderValues, line: Line): RequestTarget {
  const found = line.find(pseudo(headers, ':path') ?? '/')
  const named = namedOrigins(headers, line.target)
  const meant = line.hasServerPerLogin ? (found.origin ?? named[0]) : line.target.origin
  for (const each of named) if (each !== meant) throw foreign(each, line.target)
  return line.hasServerPerLogin && meant !== undefined ? { ...found, origin: meant } : found
}

/** The server, as often as the headers name it. */
function namedOrigins(headers: HeaderValues, target: Target): readonly string[] {
  const { protocol, host } = new URL(target.origin)
  const { ':scheme': scheme, ':authority': authority, host: other } = headers
  const named = [authority, other].filter((each) => each !== undefined)
  if (named.length === 0 && scheme !== undefined) named.push(host)
  return named.map((each) => {
    const asked = `${scheme ?? protocol.slice(0, -1)}://${each}`
    // The default port may be written or not.
    if (URL.canParse(asked)) return new URL(asked).origin
    throw foreign(asked, target)
  })
}

function foreign(asked: string, { origin }: Target): ForeignOriginError {
  return new ForeignOriginError(`${asked} is not this cluster (${origin})`, {
    hint: 'Leave :scheme, :authority and host out: the client knows its cluster.',
  })
}
