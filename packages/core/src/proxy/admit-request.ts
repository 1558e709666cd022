import { timingSafeEqual } from 'node:crypto'
import { impersonatesUser } from '../request/headers.ts'
import type { StatusAnswer } from './reject-request.ts'
import { type AskedPath, type RequestHead, readAskedPath, readHead } from './request-head.ts'
import { brokenRule, type ProxyRules } from './rules.ts'

/** What of the options decides about a request. */
interface GuardOptions {
  readonly hosts: readonly string[] | 'any'
  readonly secret?: string | undefined
  readonly rules: ProxyRules
  readonly prefix: string
}

/** What came, before anything of it is believed. */
export interface Arrival {
  readonly method: string
  /** The request's target, as it was written. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly isUpgrade: boolean
}

/** A request that may go. */
export interface Admitted {
  readonly path: AskedPath
  readonly head: RequestHead
}

/** Decides about one request: what may go, or what the client is told. */
export type Guard = (arrival: Arrival) => Admitted | StatusAnswer

export function isAnswer(verdict: Admitted | StatusAnswer): verdict is StatusAnswer {
  return 'status' in verdict
}

/**
 * Makes the guard of a proxy.
 *
 * The order matters: who is not known learns nothing about rules and paths, and a page of a browser not even
 * whether its secret was right.
 */
export function makeGuard({ hosts, secret, rules, prefix }: GuardOptions): Guard {
  const known = hosts === 'any' ? undefined : new Set(hosts.map((host) => host.toLowerCase()))
  const isOurs = (host = ''): boolean => known === undefined || known.has(host.toLowerCase())
  const hasSecret = secret === undefined ? () => true : bearerCheck(secret)
  return (arrival) => {
    const head = readHead(arrival.rawHeaders)
    if (head.problem !== undefined) return badRequest('a header', head.problem)
    if (!isOurs(head.host)) return WRONG_HOST
    if (isFromPage(head, known)) return FROM_PAGE
    if (!hasSecret(head.authorization)) return NO_SECRET
    const asked = readAskedPath(arrival.target)
    if (typeof asked === 'string') return badRequest('the path', `the path is refused: ${asked}`)
    const path = withoutPrefix(asked, prefix)
    return path === undefined ? NOT_HERE : (judge(arrival, head, path, rules) ?? { path, head })
  }
}

/** What somebody who is known may not do. */
function judge(
  { method, isUpgrade }: Arrival,
  head: RequestHead,
  path: AskedPath,
  rules: ProxyRules,
): StatusAnswer | undefined {
  if (ECHOES.has(method)) return NO_ECHO
  const broken = brokenRule(rules, { method, path: path.decoded, isUpgrade })
  if (broken !== undefined) return forbidden('the rules', `the rules forbid this: ${broken}`)
  if (head.isImpersonating && !rules.allowImpersonation) return NO_IMPERSONATION
  if (head.isImpersonating && !impersonatesUser(head.headers)) return NOBODY
  return isUpgrade && !UPGRADES.test(head.upgrade ?? '') ? ODD_UPGRADE : undefined
}

/**
 * Whether a page in a browser sent it.
 *
 * No page may use the API: ours does not, and one that comes through the proxy is somebody else's, also where it
 * has our origin. Only browsers send `Sec-Fetch-Site`. Tools may name our own origin, as Python's WebSockets do.
 */
function isFromPage({ origin, fetchSite }: RequestHead, known: Set<string> | undefined): boolean {
  if (fetchSite !== undefined && fetchSite !== 'none') return true
  if (origin === undefined) return false
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
  return host === undefined || !known?.has(host)
}

/** Methods that send back what came, our credential with it. */
const ECHOES = new Set(['TRACE', 'TRACK', 'CONNECT'])

/** What Kubernetes speaks. Over HTTP/2 without TLS, say, a client could send requests that nobody looks at. */
const UPGRADES = /^(?:websocket|SPDY\/3\.1)$/i

/** As kubectl: a prefix is taken off, its last slash stays; but one of the API's own is served as it is. */
function withoutPrefix(path: AskedPath, prefix: string): AskedPath | undefined {
  if (prefix === '/') return path
  if (!path.written.startsWith(prefix)) return undefined
  if (prefix.startsWith('/api')) return path
  const written = path.written.slice(prefix.length - 1)
  return { ...path, written, decoded: path.decoded.slice(prefix.length - 1) }
}

function badRequest(why: string, message: string): StatusAnswer {
  return { status: 400, why, message }
}

function forbidden(why: string, message: string): StatusAnswer {
  return { status: 403, why, message }
}

const WRONG_HOST = forbidden(
  'the host',
  'the Host header names another host than this proxy. Use its address as it was printed.',
)
const FROM_PAGE = forbidden(
  'the origin',
  'pages in a browser may not use the API through this proxy. Use a program, such as kubectl or curl.',
)
const NO_SECRET: StatusAnswer = {
  status: 401,
  why: 'the secret',
  message: 'the secret of this proxy is missing or wrong. Send it as "Authorization: Bearer …".',
}
const NOT_HERE: StatusAnswer = {
  status: 404,
  why: 'the prefix',
  message: 'the API is not here. Begin the path with the prefix that the proxy was given.',
}
const NO_ECHO: StatusAnswer = {
  status: 405,
  why: 'the method',
  message: 'this method is never passed on, because its answer could show the credential.',
}
const NO_IMPERSONATION = forbidden(
  'impersonation',
  'Impersonate headers are not allowed here. Without them the request would have other rights than it asks for.',
)
const NOBODY = badRequest(
  'impersonation',
  'Impersonate headers need an Impersonate-User that names somebody. Without one the server would ignore all of them.',
)
const ODD_UPGRADE = badRequest(
  'the protocol',
  'only WebSocket and SPDY/3.1 can be upgraded to. Leave out the Upgrade header.',
)

/**
 * Makes a check of `Authorization: Bearer …` that takes the same time however much of it is right.
 *
 * Its length is no secret: it is the same for every one that we make.
 */
function bearerCheck(secret: string): (authorization: string | undefined) => boolean {
  const expected = Buffer.from(secret, 'latin1')
  return (authorization = '') => {
    const given = Buffer.from(BEARER.test(authorization) ? authorization.slice(7) : '', 'latin1')
    const isLong = given.length === expected.length
    return timingSafeEqual(isLong ? given : expected, expected) && isLong
  }
}

const BEARER = /^bearer /i
