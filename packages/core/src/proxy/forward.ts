import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { toOutgoingRequest, toOutgoingUpgrade } from '../bridge/convert-request.ts'
import {
  createResponseOn,
  encodeHeaderValue,
  formatResponseHead,
  sendResponse,
  UPGRADED,
} from '../bridge/send-response.ts'
import { isCredentialError, type UnexpectedError } from '../errors/index.ts'
import { isProgramError } from '../errors/unexpected-error.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import { upgradeExchange, upgradeWithServerOrigin } from '../exchange/upgrade.ts'
import { impersonationHeaders } from '../request/headers.ts'
import type { IncomingResponse } from '../request/incoming-response.ts'
import type { Line } from '../request/line.ts'
import type { RequestTarget } from '../request/request-target.ts'
import type { AdmittedRequest } from './admit-request.ts'
import type { Caller } from './authenticate.ts'
import {
  closeAfterFlush,
  internalError,
  responseForError,
  type StatusResponse,
} from './reject-request.ts'
import type { RequestHead, RequestPath } from './request-head.ts'
import type { RequestRecord } from './request-record.ts'

/** A request to forward, and what is needed to do so. */
export interface ForwardContext {
  readonly line: Line
  readonly request: IncomingMessage
  readonly admitted: AdmittedRequest
  /** Whether the request is sent as its caller, by impersonation. */
  readonly isImpersonating: boolean
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal
  readonly record: RequestRecord
  /** Responds in place of the server. */
  readonly reject: (rejection: StatusResponse) => void
  /** Reports an internal error. */
  readonly report: (error: unknown) => UnexpectedError
}

/** Sends a request to the server and the response to the client. */
export async function forward(context: ForwardContext, response: ServerResponse): Promise<void> {
  const { line, request, admitted, gone, record, reject } = context
  let incoming: IncomingResponse | undefined
  let hasFailed = false
  const fail = (error: unknown): void => {
    hasFailed = true
    drop(incoming)
    if (gone.aborted || request.errored || response.destroyed) {
      record.aborted()
      reportProgramError(error, context)
      return
    }
    const rejection = describeFailure(error, context)
    if (response.headersSent) response.destroy()
    else reject(rejection)
  }
  const cutOff = (error: Error | undefined): void => {
    // After `fail`, the server's response ends because it was cancelled, and the client gets the rejection.
    if (hasFailed) return
    reportProgramError(error, context)
    response.destroy()
  }
  try {
    const made = toOutgoingRequest(request, headersFor(context), gone)
    const outgoing = made instanceof Promise ? await made : made
    incoming = await line.send(targetOn(line, admitted.path), outgoing)
    const headers = answerHeaders(incoming)
    record.responded(incoming.statusCode)
    sendResponse(response, incoming, { cutOff, unsendable: fail }, headers)
  } catch (error) {
    fail(error)
  }
}

/** Forwards an upgrade. If the server accepts it, the two connections are joined. */
export async function forwardUpgrade(
  context: ForwardContext,
  socket: Duplex,
  early: Buffer,
): Promise<void> {
  const { line, request, admitted, gone, record, reject } = context
  let incoming: IncomingResponse | undefined
  let hasBegun = false
  const fail = (error: unknown): void => {
    drop(incoming)
    if (gone.aborted) {
      record.aborted()
      reportProgramError(error, context)
      return
    }
    const rejection = describeFailure(error, context)
    // A second response would be read as a part of the first, or of the other protocol.
    if (hasBegun) socket.destroy()
    else reject(rejection)
  }
  const cutOff = (error: Error | null | undefined): void => {
    reportProgramError(error, context)
    socket.destroy()
  }
  try {
    const outgoing = toOutgoingUpgrade(request, headersFor(context), gone)
    // A client's Origin is the proxy's, which the server does not know.
    const via = admitted.head.origin === undefined ? upgradeExchange : upgradeWithServerOrigin
    incoming = await line.send(targetOn(line, admitted.path), outgoing, via)
    const headers = answerHeaders(incoming)
    record.responded(incoming.statusCode)
    const { socket: upstream } = incoming
    hasBegun = true
    if (upstream === undefined) {
      const response = createResponseOn(socket, request)
      closeAfterFlush(socket)
      sendResponse(response, incoming, { cutOff, unsendable: fail }, headers)
      return
    }
    socket.write(formatResponseHead(incoming, UPGRADED, headers), 'latin1')
    if (early.length > 0) socket.unshift(early)
    join(socket, upstream, (error) => reportProgramError(error, context))
  } catch (error) {
    fail(error)
  }
}

/** Returns the proxy's own response to a failed request. Reports an internal error first. */
function describeFailure(error: unknown, { report }: ForwardContext): StatusResponse {
  return isCredentialError(error) ? responseForError(error) : internalError(report(error))
}

/** Reports a programming error when no response can be sent. A closed connection is not one. */
function reportProgramError(error: unknown, { report }: ForwardContext): void {
  if (isProgramError(error)) report(error)
}

/** Pipes both ways. Each direction ends on its own; a failure of one ends both. */
function join(
  socket: Duplex,
  upstream: Duplex,
  onEnd: (error: Error | null | undefined) => void,
): void {
  for (const end of [socket, upstream]) {
    // A side that has finished sending may still receive. Node's TLS sockets close both directions by default.
    end.allowHalfOpen = true
    // `pipeline` alone adds a dozen listeners to each.
    end.setMaxListeners(0)
  }
  pipeline(socket, upstream, socket, onEnd)
}

/** Cancels a response that will not be read. */
function drop(incoming: IncomingResponse | undefined): void {
  incoming?.cancel(new Error('the client cannot be sent this response'))
}

/** Appends the path, as it was sent and checked, to the server's own path. */
function targetOn(line: Line, { written, search }: RequestPath): RequestTarget {
  if (line.hasServerPerLogin) return { pathname: written, search, isRelative: true }
  return { pathname: line.target.prefix + written, search }
}

/**
 * Returns the headers of a request: those of the client, and the impersonation of the caller or the connection.
 *
 * The guard has rejected Impersonate headers of the client, if it may not send them.
 */
function headersFor({ line, admitted, isImpersonating }: ForwardContext): HeaderValues {
  const { head, caller } = admitted
  if (!isImpersonating) return withDefaults(head, line)
  // Without a caller, the request would be sent with the rights of the proxy.
  if (caller === undefined) throw new TypeError('a request without a caller cannot be impersonated')
  const headers = { ...head.headers, ...impersonationHeaders(impersonationOf(caller)) }
  return withDefaults({ ...head, headers, isImpersonating: true }, line)
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/

/**
 * Leaves out the groups that the server adds by itself, so that the proxy needs no right to impersonate groups: those
 * of a service account, if it has no others, and that of all authenticated users.
 */
function impersonationOf(caller: Caller): Caller {
  const groups = caller.groups.filter((group) => group !== 'system:authenticated')
  const namespace = SERVICE_ACCOUNT.exec(caller.user)?.[1]
  const own = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  const hasOnlyOwn = groups.length === own.length && own.every((group) => groups.includes(group))
  return { ...caller, groups: namespace !== undefined && hasOnlyOwn ? [] : groups }
}

/**
 * Adds the default headers of the connection that the request does not set itself.
 *
 * A request that impersonates replaces all impersonation of the kubeconfig: a mixture of two identities would be
 * neither. No `Accept-Encoding` is added, because the client may not be able to decompress.
 */
function withDefaults({ headers, isImpersonating }: RequestHead, { defaults }: Line): HeaderValues {
  for (const name in defaults) {
    if (name === 'accept-encoding' || Object.hasOwn(headers, name)) continue
    if (isImpersonating && name.startsWith('impersonate-')) continue
    headers[name] = defaults[name] as string | string[]
  }
  return headers
}

/** Response headers that are not forwarded. */
const REMOVED = new Set([
  // Hop-by-hop (RFC 9110, 7.6.1).
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // A browser would apply them to the proxy's origin.
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'public-key-pins',
  'alt-svc',
  'clear-site-data',
  'service-worker-allowed',
  // Replaced by our own.
  'x-content-type-options',
])

const POLICY = 'content-security-policy'

/**
 * Returns the headers of a response for the client, as alternating names and values.
 *
 * A page that is served through the proxy, such as by the `proxy` subresource of a service, has the proxy's origin.
 * The sandbox policy takes that origin away, and forbids scripts and forms.
 */
function answerHeaders({
  statusCode,
  headers,
}: Pick<IncomingResponse, 'statusCode' | 'headers'>): OutgoingHttpHeader[] {
  const kept: OutgoingHttpHeader[] = []
  const named = namedBy(headers['connection'])
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || REMOVED.has(name) || named?.has(name)) continue
    if (name.startsWith('access-control-') || name === POLICY) continue
    kept.push(
      name,
      typeof value === 'string' ? encodeHeaderValue(value) : value.map(encodeHeaderValue),
    )
  }
  const protocol = headers['upgrade']
  if (statusCode === 101 && protocol !== undefined) kept.push('upgrade', protocol)
  // A browser enforces all policies, so the server's own cannot loosen ours.
  const policies = headers[POLICY]
  kept.push(POLICY, policies === undefined ? 'sandbox' : [...[policies].flat(), 'sandbox'])
  kept.push('x-content-type-options', 'nosniff')
  return kept
}

/** Returns the header names that `Connection` lists, except those that determine the length of the body. */
function namedBy(connection: string | string[] | undefined): Set<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return
  const names = [connection].flat().join(',').toLowerCase().split(',')
  const named = new Set(names.map((name) => name.trim()))
  named.delete('content-length')
  return named
}
