import type { HeaderValues } from '../exchange/exchange.ts'
import { splitPath } from '../request/request-target.ts'

/** The headers of a request, sorted into what we look at and what is sent on. */
export interface RequestHead {
  host: string | undefined
  origin: string | undefined
  /** Only browsers say it. */
  fetchSite: string | undefined
  authorization: string | undefined
  upgrade: string | undefined
  /** Whether it wants to be somebody else. */
  isImpersonating: boolean
  /** Why it cannot be understood in one way. */
  problem: string | undefined
  /** What is sent on. */
  readonly headers: HeaderValues
}

type Looked = 'host' | 'origin' | 'fetchSite' | 'authorization' | 'upgrade'

/**
 * Reads the headers of a request in one go.
 *
 * What is between the client and us, what says who somebody is, and what a proxy may say about its client is
 * not sent on. Repeated headers stay apart: `Impersonate-Group` means something else when joined.
 *
 * @param raw Names and values in turns, as they came.
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
    const looked = LOOKED_AT.get(name)
    if (looked !== undefined) look(head, looked, name, value)
    else if (name === 'connection') connection += `,${value}`
    else if (name === 'sec-websocket-protocol') addProtocols(head.headers, value)
    else if (!isRemoved(name)) {
      if (name.startsWith('impersonate-')) head.isImpersonating = true
      add(head.headers, name, value)
    }
  }
  if (connection !== '' && !HARMLESS.test(connection)) dropNamed(head, connection)
  return head
}

/** For us alone, and only once: of two, somebody else might take the other one. */
const LOOKED_AT = new Map<string, Looked>([
  ['host', 'host'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetchSite'],
  ['authorization', 'authorization'],
  ['upgrade', 'upgrade'],
])

function look(head: RequestHead, field: Looked, name: string, value: string): void {
  if (head[field] !== undefined) head.problem = `the header ${name} came twice`
  head[field] = value
}

const REMOVED = new Set([
  // Between the client and us.
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'content-length',
  'expect',
  'http2-settings',
  // Credentials that are not ours. The API server would take some of them for more than the request has.
  'proxy-authorization',
  'proxy-authenticate',
  'cookie',
  'cookie2',
  // Who the client is, as a proxy says it: the server writes it into its audit log.
  'forwarded',
  'via',
  'x-real-ip',
  // Addresses of ours.
  'referer',
  // A method in a header would pass by the rules.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  // No header, but a trap for whoever keeps headers in an object.
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

/** A browser's way to send a bearer token with a WebSocket. It is no way to us, and no way past us. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io'

function addProtocols(headers: HeaderValues, value: string): void {
  const kept = value
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.toLowerCase().startsWith(BEARER_PROTOCOL))
  if (kept.length > 0) add(headers, 'sec-websocket-protocol', kept.join(', '))
}

/** What `Connection` usually says. */
const HARMLESS = /^,(?:keep-alive|close|upgrade|keep-alive, ?upgrade)$/i

/** Takes off what `Connection` names. What would then have more rights than it asked for is refused. */
function dropNamed(head: RequestHead, connection: string): void {
  for (const part of connection.split(',')) {
    const name = part.trim().toLowerCase()
    if (name.startsWith('impersonate-')) head.problem = `the header connection names ${name}`
    delete head.headers[name]
  }
}

/** Where a request goes, in the two spellings that matter. */
export interface AskedPath {
  /** As it was written: this is sent. */
  readonly written: string
  /** Decoded once, as the server will: the rules see this. */
  readonly decoded: string
  /** With its question mark; empty without a query. */
  readonly search: string
}

/** Nothing in it that anybody could read in two ways. Most paths are like this. */
const PLAIN = /^(?:\/[\w~:-][\w.~:-]*)+\/?$/

/**
 * Reads what a request asks for.
 *
 * What two programs could understand differently is refused, because the rules would judge one meaning and
 * the server follow the other. Kubernetes has no names that need any of it.
 *
 * @returns Why it is refused, or the path.
 */
export function readAskedPath(target: string): AskedPath | string {
  if (!target.startsWith('/')) return 'it is not a path'
  const { pathname: written, search } = splitPath(target)
  if (NOT_IN_TARGET.test(target)) return 'it has a character that must be written with %'
  if (PLAIN.test(written) || written === '/') return { written, decoded: written, search }
  if (written.includes('\\')) return 'it has a backslash'
  if (AMBIGUOUS.test(written))
    return 'it has an encoded slash, backslash, percent or control character'
  const decoded = decode(written)
  if (decoded === undefined) return 'it has an encoding that is none'
  if (LINE_SEPARATOR.test(decoded)) return 'it has an encoded line separator or control character'
  const problem = oddSegment(decoded)
  return problem ?? { written, decoded, search }
}

/** Only what can be printed; no fragment, which never goes over the wire. */
const NOT_IN_TARGET = /[^!-~]|#/

const AMBIGUOUS = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i

/** A dot in a rule does not match them, so that a rule would see less than the server. */
const LINE_SEPARATOR = /[\u0080-\u009f\u2028\u2029]/

function decode(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

function oddSegment(decoded: string): string | undefined {
  if (decoded.includes('//')) return 'it has an empty segment'
  // Some servers take what follows a semicolon for no part of the name.
  return /\/\.\.?(?:;|\/|$)/.test(decoded) ? 'it has a dot segment' : undefined
}
