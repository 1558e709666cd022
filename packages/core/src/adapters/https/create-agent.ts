import { errorMonitor } from 'node:events'
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type https from 'node:https'
import process from 'node:process'
import {
  Bridge,
  bridgeAgent,
  type Destination,
  destinationOf,
  originFor,
} from '../../bridge/bridge.ts'
import { addressOf, type Target } from '../../dial/target.ts'
import { checkOptionNames } from '../../errors/option-names.ts'
import { dialingAgent } from '../../exchange/https.ts'
import type { Lease } from '../../keeper/lease.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { isRefused, refusalOf, refusalWithoutResponse } from '../../request/refusal.ts'
import { splitPath } from '../../request/request-target.ts'

/** Options of `createAgent`. */
export interface AgentOptions {
  /**
   * Sends over Node's own connections where possible; false by default.
   *
   * This is faster, but a refused request is not retried: the refusal only refreshes the credential for later requests.
   */
  readonly direct?: boolean
}

const NAMES = Object.keys({ direct: true } satisfies Record<keyof AgentOptions, true>)

/**
 * Makes an agent for `node:https` and the clients built on it: axios, got, node-fetch, ws.
 *
 * Requests need nothing else: they get the cluster's credential, its TLS settings and its proxy. A request to any other
 * server fails with a `ForeignOriginError` (`ERR_FOREIGN_ORIGIN`), and nothing is sent.
 *
 * If the server uses plain HTTP, it is an agent for `node:http`.
 *
 * @throws {TypeError} If `cluster` is not a `Cluster`, or an option is unknown.
 *
 * @example
 * import https from 'node:https'
 * import { connect } from 'kubecred'
 * import { createAgent } from 'kubecred/https'
 *
 * const cluster = await connect()
 * https.get(`${cluster.server}/version`, { agent: createAgent(cluster) }, (response) => {
 *   response.pipe(process.stdout)
 * })
 */
export function createAgent(cluster: HasLine, options: AgentOptions = {}): https.Agent {
  const line = lineOf(cluster, 'createAgent')
  checkOptionNames(options, 'createAgent()', NAMES)
  const protocol = line.target.origin.startsWith('https:') ? 'https:' : 'http:'
  const agent = bridgeAgent(new Bridge(() => line), protocol, { keepAlive: true })
  if (options.direct) sendDirectly(agent, line, protocol)
  // Node's two classes differ only in options that are not used here; the types of clients require that of https.
  return agent as https.Agent
}

/** The method that Node's client calls on its agent. It is missing in the types, but agents on npm rely on it. */
interface RequestAdder {
  addRequest(request: ClientRequest, options: object): void
}

/**
 * Makes the agent of a bridge send requests over Node's own connections where possible.
 *
 * That needs a credential that is available now, and a request whose headers can still be changed. All other requests
 * use the bridge, which can wait: no credential yet, an Authorization of the caller's, an upgrade. So do requests with a
 * signing key, because a connection then costs more than the bridge.
 */
function sendDirectly(agent: Agent, line: Line, protocol: Destination['protocol']): void {
  const adder = agent as unknown as RequestAdder
  const overBridge = adder.addRequest.bind(agent)
  adder.addRequest = (request, options) => {
    const lease = findLease(line, request, destinationOf(protocol, options))
    if (lease === undefined) {
      overBridge(request, options)
      return
    }
    const route: Route = { line, lease, target: line.targetOf(lease) }
    authorize(request, route)
    const hasCertificate = lease.credential.certificate !== undefined
    if (!hasCertificate) send(route, request)
    // The caller may still set an Authorization, which must not be sent with our certificate.
    else {
      const fallBack = (): void => overBridge(request, options)
      process.nextTick(() => sendWithCertificate(route, request, fallBack))
    }
  }
}

/** The credential of a request that is sent directly, and the server that it is for. */
interface Route {
  readonly line: Line
  readonly lease: Lease
  readonly target: Target
}

/** Returns the credential of a request that can be sent directly; undefined if it must use the bridge. */
function findLease(
  line: Line,
  request: ClientRequest,
  destination: Destination,
): Lease | undefined {
  const { access, defaults } = line
  if (defaults['impersonate-user'] !== undefined || !isPlain(request)) return undefined
  try {
    line.checkOpen()
    const needed = originFor(destination, line)
    // With a vault, an aborted signal keeps the request out of the queue: the bridge queues it.
    const lease = access.lease(line.hasServerPerLogin ? AbortSignal.abort() : undefined, needed)
    if (!(lease instanceof Promise)) {
      return canSendDirectly(lease) ? lease : undefined
    }
    lease.catch(() => {})
  } catch {
    // The bridge fails in the same way, and reports it.
  }
  return undefined
}

/**
 * Whether requests with this credential can be sent directly.
 *
 * Not if its login impersonates a user: the caller may still add impersonation headers, and a mix of two identities would
 * be neither. The bridge sees the final headers.
 */
function canSendDirectly({ credential, endpoint }: Lease): boolean {
  return credential.certificate?.signingKey === undefined && endpoint?.impersonate === undefined
}

/** Whether it is an ordinary request whose headers can still be changed. */
function isPlain(request: ClientRequest): boolean {
  return (
    !request.headersSent &&
    !request.hasHeader('authorization') &&
    !request.hasHeader('upgrade') &&
    request.path.startsWith('/') &&
    request.method !== 'CONNECT'
  )
}

function authorize(request: ClientRequest, { line, lease, target }: Route): void {
  const { authorization } = lease
  // Replaces the caller's: a proxy in front of the server may choose another server by it.
  request.setHeader('host', new URL(target.origin).host)
  if (authorization !== undefined) request.setHeader('authorization', authorization)
  for (const [name, value] of Object.entries(line.adapterHeaders)) {
    if (!request.hasHeader(name)) request.setHeader(name, value)
  }
}

/** Sends over a connection with our certificate if the request certainly has no other credential. */
function sendWithCertificate(route: Route, request: ClientRequest, fallBack: () => void): void {
  const { lease } = route
  if (request.headersSent && hasOurAuthorization(request, lease)) {
    send(route, request)
    return
  }
  if (!request.headersSent && hasOurAuthorization(request, lease)) {
    request.removeHeader('authorization')
  }
  fallBack()
}

function hasOurAuthorization(request: ClientRequest, { authorization }: Lease): boolean {
  return request.getHeader('authorization') === authorization
}

function send(route: Route, request: ClientRequest): void {
  const { lease, target } = route
  follow(request, route)
  // Without the request's own TLS and connection options: those are the cluster's.
  const address = { ...addressOf(target), servername: '' }
  ;(dialingAgent(target, lease) as unknown as RequestAdder).addRequest(request, address)
}

/** Reports how the server took the credential, and ends the request with the cluster. */
function follow(request: ClientRequest, route: Route): void {
  const { line, lease } = route
  const remove = line.destroyOnClose({ destroy: (reason) => void request.destroy(reason) })
  request.once('close', remove)
  request.once(errorMonitor, (error) => {
    const refusal = refusalWithoutResponse(error, lease)
    if (refusal !== undefined) line.access.reject(lease, refusal)
  })
  // First, so that the count below shows whether there are other listeners.
  request.prependOnceListener('response', (response) => {
    // Node discards a response without listeners; because of ours, it would not.
    if (request.listenerCount('response') === 0) response.resume()
    if (hasOurAuthorization(request, lease)) reportResponse(response, request, route)
  })
}

/** Reports to the keeper whether the server accepted the credential. */
function reportResponse(
  { statusCode = 0, headers }: IncomingMessage,
  { path }: ClientRequest,
  { line, lease, target }: Route,
): void {
  const { pathname } = splitPath(path)
  if (isRefused(statusCode, pathname, lease, line.refreshOn)) {
    line.access.reject(lease, refusalOf({ statusCode, headers }))
  } else {
    line.accept(lease, { origin: target.origin }, headers.date)
  }
}
