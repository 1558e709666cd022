import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { toOutgoingRequest, toOutgoingUpgrade } from '../bridge/convert-request.ts'
import {
  createResponseOn,
  encodeHeaderValue,
  formatResponseHead,
  sendResponse,
} from '../bridge/send-response.ts'
import { isCredentialError, type UnexpectedError } from '../errors/index.ts'
import { isProgramError } from '../errors/unexpected-error.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import { upgradeExchange, upgradeWithServerOrigin } from '../exchange/upgrade.ts'
import type { IncomingResponse } from '../request/incoming-response.ts'
import type { Line } from '../request/line.ts'
import type { RequestTarget } from '../request/request-target.ts'
import type { Admitted } from './admit-request.ts'
import { answerFor, endSoon, internalError, type StatusAnswer } from './reject-request.ts'
import type { AskedPath, RequestHead } from './request-head.ts'
import type { RequestRecord } from './request-record.ts'

/** What is known about a request that may go. */
export interface Errand {
  readonly line: Line
  readonly request: IncomingMessage
  readonly admitted: Admitted
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
  readonly visit: RequestRecord
  /** Answers in the server's place, when there is no answer. */
  readonly refuse: (answer: StatusAnswer) => void
  /** Reports an error that should not happen. */
  readonly report: (error: unknown) => UnexpectedError
}

/** Sends a request to the server and its answer to the client. */
export async function forward(errand: Errand, response: ServerResponse): Promise<void> {
  const { line, request, admitted, gone, visit, refuse } = errand
  let incoming: IncomingResponse | undefined
  let hasFailed = false
  const fail = (error: unknown): void => {
    hasFailed = true
    drop(incoming)
    if (gone.aborted || request.errored || response.destroyed) {
      visit.left()
      reportMistake(error, errand)
      return
    }
    const answer = explain(error, errand)
    if (response.headersSent) response.destroy()
    else refuse(answer)
  }
  const cutOff = (error: Error | undefined): void => {
    // Then it ends because we dropped it, and the client gets another answer.
    if (hasFailed) return
    reportMistake(error, errand)
    response.destroy()
  }
  try {
    const made = toOutgoingRequest(request, withDefaults(admitted.head, line), gone)
    const outgoing = made instanceof Promise ? await made : made
    incoming = await line.send(targetOn(line, admitted.path), outgoing)
    const headers = answerHeaders(incoming)
    visit.answered(incoming.statusCode)
    sendResponse(response, incoming, { cutOff, unsendable: fail }, headers)
  } catch (error) {
    fail(error)
  }
}

/** The same for a request that asks for another protocol: if the server agrees, the connections are joined. */
export async function forwardUpgrade(errand: Errand, socket: Duplex, early: Buffer): Promise<void> {
  const { line, request, admitted, gone, visit, refuse } = errand
  let incoming: IncomingResponse | undefined
  let hasBegun = false
  const fail = (error: unknown): void => {
    drop(incoming)
    if (gone.aborted) {
      visit.left()
      reportMistake(error, errand)
      return
    }
    const answer = explain(error, errand)
    // A second answer would be taken for a part of the first, or of the other protocol.
    if (hasBegun) socket.destroy()
    else refuse(answer)
  }
  const cutOff = (error: Error | null | undefined): void => {
    reportMistake(error, errand)
    socket.destroy()
  }
  try {
    const outgoing = toOutgoingUpgrade(request, withDefaults(admitted.head, line), gone)
    // The client's own origin is the proxy's, which the server does not know.
    const via = admitted.head.origin === undefined ? upgradeExchange : upgradeWithServerOrigin
    incoming = await line.send(targetOn(line, admitted.path), outgoing, via)
    const headers = answerHeaders(incoming)
    visit.answered(incoming.statusCode)
    const { socket: way } = incoming
    hasBegun = true
    if (way === undefined) {
      const response = createResponseOn(socket, request)
      endSoon(socket)
      sendResponse(response, incoming, { cutOff, unsendable: fail }, headers)
      return
    }
    socket.write(formatResponseHead(incoming, headers), 'latin1')
    if (early.length > 0) socket.unshift(early)
    join(socket, way, (error) => reportMistake(error, errand))
  } catch (error) {
    fail(error)
  }
}

/** The proxy's own answer to a failed request. An error that should not happen is reported first. */
function explain(error: unknown, { report }: Errand): StatusAnswer {
  return isCredentialError(error) ? answerFor(error) : internalError(report(error))
}

/** Reports a mistake in a program where no answer can be sent. A connection that ended is not one. */
function reportMistake(error: unknown, { report }: Errand): void {
  if (isProgramError(error)) report(error)
}

/** Lets bytes pass both ways. Each direction ends by itself; a failure of one is the end of both. */
function join(socket: Duplex, way: Duplex, onEnd: (error: Error | null | undefined) => void): void {
  for (const end of [socket, way]) {
    // Whoever has said all may still listen. Node's connections over TLS end both ways unless told.
    end.allowHalfOpen = true
    // Each has a dozen listeners of `pipeline` alone.
    end.setMaxListeners(0)
  }
  pipeline(socket, way, socket, onEnd)
}

/** Ends a response that is not going to be read. */
function drop(incoming: IncomingResponse | undefined): void {
  incoming?.cancel(new Error('the client cannot be sent this response'))
}

/** As it was written and checked, behind the server's own path. */
function targetOn(line: Line, { written, search }: AskedPath): RequestTarget {
  if (line.hasServerPerLogin) return { pathname: written, search, isRelative: true }
  return { pathname: line.target.prefix + written, search }
}

/**
 * Adds what the connection sends with requests that say nothing else.
 *
 * Whoever impersonates somebody replaces all of the kubeconfig's impersonation: half of one identity and half
 * of another would be neither. What a client did not say it can read, it does not get: no compression.
 */
function withDefaults({ headers, isImpersonating }: RequestHead, { defaults }: Line): HeaderValues {
  for (const name in defaults) {
    if (name === 'accept-encoding' || Object.hasOwn(headers, name)) continue
    if (isImpersonating && name.startsWith('impersonate-')) continue
    headers[name] = defaults[name] as string | string[]
  }
  return headers
}

/** Headers of an answer that the client does not get. */
const REMOVED = new Set([
  // Between the server and us.
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // They would tell a browser something about our own address, which is not the server's to say.
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'public-key-pins',
  'alt-svc',
  'clear-site-data',
  'service-worker-allowed',
  // Ours instead.
  'x-content-type-options',
])

const POLICY = 'content-security-policy'

/**
 * What the client gets of an answer's headers: names and values in turns.
 *
 * A page that comes through the proxy, as by the `proxy` subresource of a service, has the proxy's origin. In a
 * sandbox it has none, runs no script and sends no form.
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
  // Several policies hold together, so that the server's own cannot loosen ours.
  const policies = headers[POLICY]
  kept.push(POLICY, policies === undefined ? 'sandbox' : [...[policies].flat(), 'sandbox'])
  kept.push('x-content-type-options', 'nosniff')
  return kept
}

/** What `Connection` says is for us alone, but not what the length of the body depends on. */
function namedBy(connection: string | string[] | undefined): Set<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return
  const names = [connection].flat().join(',').toLowerCase().split(',')
  const named = new Set(names.map((name) => name.trim()))
  named.delete('content-length')
  return named
}
