import { impersonatesUser } from '../request/headers.ts'
import type { Authentication, Caller, Identified } from './authenticate.ts'
import type { StatusResponse } from './reject-request.ts'
import { parseRequestPath, type RequestHead, type RequestPath, readHead } from './request-head.ts'
import { isAcceptedCaller, type ProxyRules, violatedRule } from './rules.ts'

/** The options that decide whether a request is admitted. */
interface GuardOptions {
  readonly hosts: readonly string[] | 'any'
  readonly authenticate: Authentication
  readonly rules: ProxyRules
  readonly prefix: string
}

/** A request as it arrived. */
export interface UncheckedRequest {
  readonly method: string
  /** The request target, undecoded. */
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly isUpgrade: boolean
}

/** A request that may be forwarded. */
export interface AdmittedRequest {
  readonly path: RequestPath
  readonly head: RequestHead
  /** Who sent it; undefined if all callers share a secret. */
  readonly caller?: Caller | undefined
}

/** What a guard decides: the request to forward, or the response that rejects it. */
export type Verdict = AdmittedRequest | StatusResponse

/** Checks one request. Only finding out who the caller is may take time. */
export type Guard = (unchecked: UncheckedRequest) => Verdict | Promise<Verdict>

/** Returns whether a guard rejected the request. */
export function isRejection(verdict: object): verdict is StatusResponse {
  return 'status' in verdict
}

/**
 * Creates the guard of a proxy.
 *
 * The order of the checks matters: an unauthenticated client learns nothing about rules and paths, and a page in a
 * browser does not even learn whether its secret is right.
 */
export function createGuard({ hosts, authenticate, rules, prefix }: GuardOptions): Guard {
  const known = hosts === 'any' ? undefined : new Set(hosts.map((host) => host.toLowerCase()))
  const isKnown = (host = ''): boolean => known === undefined || known.has(host.toLowerCase())
  return (unchecked) => {
    const head = readHead(unchecked.rawHeaders)
    if (head.problem !== undefined) return badRequest('a header', head.problem)
    if (!isKnown(head.host)) return WRONG_HOST
    if (isFromBrowser(head, known)) return FROM_BROWSER
    const decide = (identified: Identified): Verdict =>
      isRejection(identified) ? identified : decideFor(identified.caller, unchecked, head)
    const identified = authenticate(head.authorization)
    return identified instanceof Promise ? identified.then(decide) : decide(identified)
  }

  function decideFor(
    caller: Caller | undefined,
    unchecked: UncheckedRequest,
    head: RequestHead,
  ): Verdict {
    if (caller === undefined) return checkRequest(unchecked, head)
    const isAccepted = isAcceptedCaller(rules, caller.user)
    return { ...(isAccepted ? checkRequest(unchecked, head) : NOT_ACCEPTED), caller }
  }

  function checkRequest(unchecked: UncheckedRequest, head: RequestHead): Verdict {
    const parsed = parseRequestPath(unchecked.target)
    if (typeof parsed === 'string') {
      return badRequest('the path', `the path is rejected: ${parsed}`)
    }
    const path = stripPrefix(parsed, prefix)
    if (path === undefined) return OUTSIDE_PREFIX
    return checkRules(unchecked, head, path, rules) ?? { path, head }
  }
}

/** Rejects what an authenticated client may not do. */
function checkRules(
  { method, isUpgrade }: UncheckedRequest,
  head: RequestHead,
  path: RequestPath,
  rules: ProxyRules,
): StatusResponse | undefined {
  if (ECHO_METHODS.has(method)) return ECHO_METHOD
  const violation = violatedRule(rules, { method, path: path.decoded, isUpgrade })
  if (violation !== undefined) {
    return forbidden('the rules', `not allowed by the rules of this proxy: ${violation}`)
  }
  if (head.isImpersonating && !rules.allowImpersonation) return NO_IMPERSONATION
  if (head.isImpersonating && !impersonatesUser(head.headers)) return NO_IMPERSONATED_USER
  return isUpgrade && !ALLOWED_UPGRADES.test(head.upgrade ?? '') ? UNSUPPORTED_UPGRADE : undefined
}

/**
 * Whether a page in a browser sent the request.
 *
 * No page may use the API. Our own does not need to, and a page that is served through the proxy is foreign even
 * though it has our origin. Only browsers send `Sec-Fetch-Site`. Tools may send our own origin, as Python's
 * WebSocket clients do.
 */
function isFromBrowser(
  { origin, fetchSite }: RequestHead,
  known: Set<string> | undefined,
): boolean {
  if (fetchSite !== undefined && fetchSite !== 'none') return true
  if (origin === undefined) return false
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
  return host === undefined || !known?.has(host)
}

/** Methods whose response echoes the request, and with it our credential, and CONNECT. */
const ECHO_METHODS = new Set(['TRACE', 'TRACK', 'CONNECT'])

/** The protocols of Kubernetes. Others, such as h2c, could carry further requests that are not checked. */
const ALLOWED_UPGRADES = /^(?:websocket|SPDY\/3\.1)$/i

/** As in kubectl: removes the prefix up to its last slash, except a prefix of the API itself, such as `/api/`. */
function stripPrefix(path: RequestPath, prefix: string): RequestPath | undefined {
  if (prefix === '/') return path
  if (!path.written.startsWith(prefix)) return undefined
  if (prefix.startsWith('/api')) return path
  const written = path.written.slice(prefix.length - 1)
  return { ...path, written, decoded: path.decoded.slice(prefix.length - 1) }
}

function badRequest(why: string, message: string): StatusResponse {
  return { status: 400, why, message }
}

function forbidden(why: string, message: string): StatusResponse {
  return { status: 403, why, message }
}

const WRONG_HOST = forbidden(
  'the host',
  'the Host header does not name this proxy. Use the address that it printed.',
)
const FROM_BROWSER = forbidden(
  'the origin',
  'web pages may not use this proxy. Use a program such as kubectl or curl.',
)
const NOT_ACCEPTED = forbidden(
  'the caller',
  'this caller may not use this proxy. Ask its operator to accept your service account.',
)
const OUTSIDE_PREFIX: StatusResponse = {
  status: 404,
  why: 'the prefix',
  message: 'the path is outside the prefix of this proxy. Start it with the configured prefix.',
}
const ECHO_METHOD: StatusResponse = {
  status: 405,
  why: 'the method',
  message: 'this method is never forwarded, because the response could contain the credential.',
}
const NO_IMPERSONATION = forbidden(
  'impersonation',
  'Impersonate headers are not allowed. Without them the request would run with other rights than it asked for.',
)
const NO_IMPERSONATED_USER = badRequest(
  'impersonation',
  'Impersonate headers need an Impersonate-User that is not empty. Without one the server would ignore all of them.',
)
const UNSUPPORTED_UPGRADE = badRequest(
  'the protocol',
  'only upgrades to WebSocket and SPDY/3.1 are supported. Remove the Upgrade header.',
)
