import type { HeaderValues } from '../exchange/exchange.ts'
import { splitPath } from '../request/request-target.ts'

/** The headers of a request, separated into those that are inspected and those that are forwarded. */
export interface RequestHead {
  host: string | undefined
  origin: string | undefined
  /** `Sec-Fetch-Site`, which only browsers send. */
  fetchSite: string | undefined
  authorization: string | undefined
  upgrade: string | undefined
  /** Whether there are `Impersonate-*` headers. */
  isImpersonating: boolean
  /** Why the headers are ambiguous; undefined if they are not. */
  problem: string | undefined
  /** The headers to forward. */
  readonly headers: HeaderValues
}

type InspectedField = 'host' | 'origin' | 'fetchSite' | 'authorization' | 'upgrade'

/**
 * Reads the headers of a request in one pass.
 *
 * Hop-by-hop headers, credentials, and what a proxy says about its client are not forwarded. Repeated headers are not
 * joined, because that would change the meaning of `Impersonate-Group`.
 *
 * @param raw Alternating names and values, as received.
 */
export function readHead(raw: readonly string[]): RequestHead {
  const head: RequestHead = {
    host: undefined,
    origin: undefined,
    fetchSite: undefined,
    authorization: undefined,
    upgrade: undefined,
    isImpersonating: false,
    problem: undefined,
    headers: {},
  }
  let connection = ''
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    const field = INSPECTED.get(name)
    if (field !== undefined) setOnce(head, field, name, value)
    else if (name === 'connection') connection += `,${value}`
    else if (name === 'sec-websocket-protocol') addProtocols(head.headers, value)
    else if (!isRemoved(name)) {
      if (name.startsWith('impersonate-')) head.isImpersonating = true
      add(head.headers, name, value)
    }
  }
  if (connection !== '' && !USUAL_CONNECTION.test(connection))
    removeConnectionHeaders(head, connection)
  return head
}

/** Headers for the proxy only. Each may occur once: another program might use the other of two. */
const INSPECTED = new Map<string, InspectedField>([
  ['host', 'host'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetchSite'],
  ['authorization', 'authorization'],
  ['upgrade', 'upgrade'],
])

function setOnce(head: RequestHead, field: InspectedField, name: string, value: string): void {
  if (head[field] !== undefined) head.problem = `the header ${name} is repeated`
  head[field] = value
}

const REMOVED = new Set([
  // Hop-by-hop (RFC 9110, 7.6.1); the body is framed anew.
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'content-length',
  'expect',
  'http2-settings',
  // Credentials of the client. The API server could grant more for them than the request is allowed.
  'proxy-authorization',
  'proxy-authenticate',
  'cookie',
  'cookie2',
  // The identity of the client as claimed by itself: the server would write it to its audit log.
  'forwarded',
  'via',
  'x-real-ip',
  // Reveals addresses of the proxy.
  'referer',
  // A method in a header would bypass the rules.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  // Would change the prototype of an object that holds headers.
  '__proto__',
])

function isRemoved(name: string): boolean {
  return (
    REMOVED.has(name) ||
    (name.startsWith('x-') && (name.startsWith('x-remote-') || name.startsWith('x-forwarded-')))
  )
}

function add(headers: HeaderValues, name: string, value: string): void {
  const before = headers[name]
  if (typeof before === 'string') headers[name] = [before, value]
  else if (Array.isArray(before)) before.push(value)
  else headers[name] = value
}

/** How browsers send a bearer token with a WebSocket. It neither authenticates to the proxy nor is forwarded. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io'

function addProtocols(headers: HeaderValues, value: string): void {
  const kept = value
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.toLowerCase().startsWith(BEARER_PROTOCOL))
  if (kept.length > 0) add(headers, 'sec-websocket-protocol', kept.join(', '))
}

/** The usual values of `Connection`, which name no header to remove. */
const USUAL_CONNECTION = /^,(?:keep-alive|close|upgrade|keep-alive, ?upgrade)$/i

/** Removes the headers that `Connection` lists. Removing impersonation would add rights, so that is a problem. */
function removeConnectionHeaders(head: RequestHead, connection: string): void {
  for (const part of connection.split(',')) {
    const name = part.trim().toLowerCase()
    if (name.startsWith('impersonate-')) head.problem = `the header connection lists ${name}`
    delete head.headers[name]
  }
}

/** The path of a request. */
export interface RequestPath {
  /** As received; this is forwarded. */
  readonly written: string
  /** Decoded once, as the server does; the rules see this. */
  readonly decoded: string
  /** The query with its question mark; empty if there is none. */
  readonly search: string
}

/** Unambiguous without decoding, as most paths are. */
const PLAIN = /^(?:\/[\w~:-][\w.~:-]*)+\/?$/

/**
 * Parses the target of a request.
 *
 * Rejects what two programs could interpret differently, because the rules would check one meaning and the server
 * use the other. No name in Kubernetes needs such paths.
 *
 * @returns The path, or the reason why it is rejected.
 */
export function parseRequestPath(target: string): RequestPath | string {
  if (!target.startsWith('/')) return 'it is not a path'
  const { pathname: written, search } = splitPath(target)
  if (NOT_IN_TARGET.test(target)) return 'it contains a character that must be percent-encoded'
  if (PLAIN.test(written) || written === '/') return { written, decoded: written, search }
  if (written.includes('\\')) return 'it contains a backslash'
  if (AMBIGUOUS.test(written))
    return 'it contains an encoded slash, backslash, percent or control character'
  const decoded = decode(written)
  if (decoded === undefined) return 'it contains an invalid percent-encoding'
  if (LINE_SEPARATOR.test(decoded))
    return 'it contains an encoded line separator or control character'
  const problem = ambiguousSegment(decoded)
  return problem ?? { written, decoded, search }
}

/** Anything but printable ASCII, or a fragment, which clients must not send. */
const NOT_IN_TARGET = /[^!-~]|#/

const AMBIGUOUS = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i

/** Characters that a dot in a regular expression does not match, so that a rule could miss a part of the path. */
const LINE_SEPARATOR = /[\u0080-\u009f\u2028\u2029]/

function decode(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

function ambiguousSegment(decoded: string): string | undefined {
  if (decoded.includes('//')) return 'it contains an empty segment'
  // Some servers ignore what follows a semicolon.
  return /\/\.\.?(?:;|\/|$)/.test(decoded) ? 'it contains a dot segment' : undefined
}
