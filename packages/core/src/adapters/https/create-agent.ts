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
import { isRefused, refusalOf, unansweredRefusal } from '../../request/refusal.ts'
import { splitPath } from '../../request/request-target.ts'

export interface AgentOptions {
  /**
   * Sends over Node's own connections where it can: faster, and a refused request is not tried again.
   * The refusal refreshes the credential for the requests after it.
   */
  readonly direct?: boolean
}

const NAMES = Object.keys({ direct: true } satisfies Record<keyof AgentOptions, true>)

/**
 * Makes an agent for `node:https` and the clients built on it: axios, got, node-fetch, ws.
 *
 * Requests need nothing else: they get the cluster's credential, and its way to check the server and to
 * pass a proxy. A request to any other server fails with a `ForeignOriginError`, and nothing is sent.
 *
 * For a server that speaks plain HTTP it is an agent for `node:http`.
 *
 * @example
 * https.get(`${cluster.server}/version`, { agent: createAgent(cluster) }, (response) => …)
 */
export function createAgent(cluster: HasLine, options: AgentOptions = {}): https.Agent {
  const line = lineOf(cluster, 'createAgent')
  checkOptionNames(options, 'createAgent()', NAMES)
  const protocol = line.target.origin.startsWith('https:') ? 'https:' : 'http:'
  const agent = bridgeAgent(new Bridge(() => line), protocol, { keepAlive: true })
  if (options.direct) sendDirectly(agent, line, protocol)
  // Node's two classes differ only in the options that nobody reads here; clients ask for the one of https.
  return agent as https.Agent
}

/** What Node's client calls on its agent. Missing in the types, but what every agent on npm builds on. */
interface Adding {
  addRequest(request: ClientRequest, options: object): void
}

/**
 * Makes a bridge's agent send requests over Node's own connections where that is right.
 *
 * It is when a credential is at hand and the request's headers can still be changed. Everything else goes
 * over the bridge, which can wait: no credential yet, an own Authorization, a connection to hand over. So does
 * what has a key that only signs: there, a connection costs more than the bridge.
 */
function sendDirectly(agent: Agent, line: Line, protocol: Destination['protocol']): void {
  const adding = agent as unknown as Adding
  const overBridge = adding.addRequest.bind(agent)
  adding.addRequest = (request, options) => {
    const lease = findLease(line, request, destinationOf(protocol, options))
    if (lease === undefined) {
      overBridge(request, options)
      return
    }
    const way: Way = { line, lease, target: line.targetOf(lease) }
    authorize(request, way)
    const isBound = lease.credential.certificate !== undefined
    if (!isBound) send(way, request)
    // A caller may still put an Authorization on the request, which must not meet our certificate.
    else process.nextTick(() => sendBound(way, request, () => overBridge(request, options)))
  }
}

/** How a request goes: as whom, and to the server which that credential is for. */
interface Way {
  readonly line: Line
  readonly lease: Lease
  readonly target: Target
}

/** The credential for a request that can be sent directly. */
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
    // On a vault, to wait here would be to wait twice: the bridge does.
    const lease = access.lease(line.hasServerPerLogin ? AbortSignal.abort() : undefined, needed)
    if (!(lease instanceof Promise)) {
      return canGoDirectly(lease) ? lease : undefined
    }
    lease.catch(() => {})
  } catch {
    // The bridge meets the same, and can tell it.
  }
  return undefined
}

/**
 * Whether all that a credential needs is there when a request begins.
 *
 * Not whom it acts as: half of two identities would be neither, and the caller may still name one. The bridge knows
 * when all is said.
 */
function canGoDirectly({ credential, endpoint }: Lease): boolean {
  return credential.certificate?.signingKey === undefined && endpoint?.impersonate === undefined
}

/** Whether headers can be added, and nothing special is asked for. */
function isPlain(request: ClientRequest): boolean {
  return (
    !request.headersSent &&
    !request.hasHeader('authorization') &&
    !request.hasHeader('upgrade') &&
    request.path.startsWith('/') &&
    request.method !== 'CONNECT'
  )
}

function authorize(request: ClientRequest, { line, lease, target }: Way): void {
  const { authorization } = lease
  // Whatever the caller wrote: a proxy in front of the server may choose another one by it.
  request.setHeader('host', new URL(target.origin).host)
  if (authorization !== undefined) request.setHeader('authorization', authorization)
  for (const [name, value] of Object.entries(line.adapterHeaders)) {
    if (!request.hasHeader(name)) request.setHeader(name, value)
  }
}

/** Sends over a connection with our certificate, if it is certain that the request has nothing but ours. */
function sendBound(way: Way, request: ClientRequest, otherwise: () => void): void {
  const { lease } = way
  if (request.headersSent && isOurs(request, lease)) {
    send(way, request)
    return
  }
  if (!request.headersSent && isOurs(request, lease)) request.removeHeader('authorization')
  otherwise()
}

function isOurs(request: ClientRequest, { authorization }: Lease): boolean {
  return request.getHeader('authorization') === authorization
}

function send(way: Way, request: ClientRequest): void {
  const { lease, target } = way
  follow(request, way)
  // Nothing of the request's own options: how the server is reached and checked is the cluster's matter.
  const address = { ...addressOf(target), servername: '' }
  ;(dialingAgent(target, lease) as unknown as Adding).addRequest(request, address)
}

/** Watches what becomes of a request, and ends it with the cluster. */
function follow(request: ClientRequest, way: Way): void {
  const { line, lease } = way
  const isDone = line.endWith({ destroy: (reason) => void request.destroy(reason) })
  request.once('close', isDone)
  request.once(errorMonitor, (error) => {
    const refusal = unansweredRefusal(error, lease)
    if (refusal !== undefined) line.access.reject(lease, refusal)
  })
  // First of all, so that it can be seen whether anybody else listens.
  request.prependOnceListener('response', (response) => {
    // Because of us, Node believes that somebody reads it.
    if (request.listenerCount('response') === 0) response.resume()
    if (isOurs(request, lease)) judge(response, request, way)
  })
}

/** Tells the keeper how the server took the credential. */
function judge(
  { statusCode = 0, headers }: IncomingMessage,
  { path }: ClientRequest,
  { line, lease, target }: Way,
): void {
  const { pathname } = splitPath(path)
  if (isRefused(statusCode, pathname, lease, line.refreshOn)) {
    line.access.reject(lease, refusalOf({ statusCode, headers }))
  } else {
    line.accept(lease, { origin: target.origin }, headers.date)
  }
}
