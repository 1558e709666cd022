import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { HeaderValues } from '../../exchange/exchange.ts'
import { mergeHeaders } from '../../request/headers.ts'
import { inMemory, type Outgoing, recorded } from '../../request/outgoing.ts'

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
export function outgoingHttp2(
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
export function copyHeaders(given: Http2Headers): HeaderValues {
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
export function pseudo(headers: HeaderValues, name: `:${string}`): string | undefined {
  const value = headers[name]
  return value === undefined ? undefined : String(value)
}

function ordinary(given: HeaderValues): HeaderValues {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')))
}
