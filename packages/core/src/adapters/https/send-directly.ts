import { errorMonitor } from 'node:events'
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import process from 'node:process'
import { checkDestination, type Destination } from '../../transport/bridge.ts'
import { destinationOf } from '../../transport/bridge-agent.ts'
import { dialingAgent } from '../../transport/https-exchange.ts'
import type { Line } from '../../transport/line.ts'
import { readAlert } from '../../transport/network-errors.ts'
import { ALERTED, refusalOf } from '../../transport/refusal.ts'
import { addressOf, isProxied } from '../../transport/target.ts'
import type { Lease } from '../../vault/lease.ts'

/** What Node's client calls on its agent. Missing in the types, but what every agent on npm builds on. */
interface Adding {
  addRequest(request: ClientRequest, options: object): void
}

/**
 * Makes a bridge's agent send requests over Node's own connections where that is right.
 *
 * It is when a credential is at hand and the request's headers can still be changed. Everything else goes
 * over the bridge, which can wait: no credential yet, an own Authorization, a connection to hand over.
 */
export function sendDirectly(agent: Agent, line: Line, protocol: Destination['protocol']): void {
  const adding = agent as unknown as Adding
  const overBridge = adding.addRequest.bind(agent)
  adding.addRequest = (request, options) => {
    const lease = findLease(line, request, destinationOf(protocol, options))
    if (lease === undefined) {
      overBridge(request, options)
      return
    }
    authorize(request, lease, line)
    const isBound = lease.credential.certificate !== undefined
    if (!isBound) send(line, lease, request)
    // A caller may still put an Authorization on the request, which must not meet our certificate.
    else process.nextTick(() => sendBound(line, lease, request, () => overBridge(request, options)))
  }
}

/** The credential for a request that can be sent directly. */
function findLease(
  line: Line,
  request: ClientRequest,
  destination: Destination,
): Lease | undefined {
  const { keeper, target, defaults } = line
  // Half of two identities would be neither, and the caller may still name one: the bridge knows when all is said.
  if (defaults['impersonate-user'] !== undefined || !isPlain(request)) return undefined
  try {
    line.checkOpen()
    checkDestination(destination, target)
    const lease = keeper.lease()
    if (!(lease instanceof Promise)) return lease
    lease.catch(() => {})
  } catch {
    // The bridge meets the same, and can tell it.
  }
  return undefined
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

function authorize(request: ClientRequest, { authorization }: Lease, line: Line): void {
  // Whatever the caller wrote: a proxy in front of the server may choose another one by it.
  request.setHeader('host', new URL(line.target.origin).host)
  if (authorization !== undefined) request.setHeader('authorization', authorization)
  for (const [name, value] of Object.entries(line.adapterHeaders)) {
    if (!request.hasHeader(name)) request.setHeader(name, value)
  }
}

/** Sends over a connection with our certificate, if it is certain that the request has nothing but ours. */
function sendBound(line: Line, lease: Lease, request: ClientRequest, otherwise: () => void): void {
  if (request.headersSent && isOurs(request, lease)) {
    send(line, lease, request)
    return
  }
  if (!request.headersSent && isOurs(request, lease)) request.removeHeader('authorization')
  otherwise()
}

function isOurs(request: ClientRequest, { authorization }: Lease): boolean {
  return request.getHeader('authorization') === authorization
}

function send(line: Line, lease: Lease, request: ClientRequest): void {
  const { target } = line
  follow(request, lease, line)
  // Nothing of the request's own options: how the server is reached and checked is the cluster's matter.
  const address = { ...addressOf(target), servername: '' }
  ;(dialingAgent(target, lease) as unknown as Adding).addRequest(request, address)
}

/** Watches what becomes of a request, and ends it with the cluster. */
function follow(request: ClientRequest, lease: Lease, line: Line): void {
  const { keeper } = line
  const isDone = line.endWith({ destroy: (reason) => void request.destroy(reason) })
  request.once('close', isDone)
  request.once(errorMonitor, (error) => {
    const isRefused = lease.credential.certificate !== undefined && readAlert(error) !== undefined
    if (isRefused) keeper.reject(lease, ALERTED)
  })
  // First of all, so that it can be seen whether anybody else listens.
  request.prependOnceListener('response', (response) => {
    // Because of us, Node believes that somebody reads it.
    if (request.listenerCount('response') === 0) response.resume()
    if (isOurs(request, lease)) judge(response, request, lease, line)
  })
}

/** Tells the keeper how the server took the credential. */
function judge(
  { statusCode = 0, headers }: IncomingMessage,
  { path }: ClientRequest,
  lease: Lease,
  { keeper, refreshOn }: Line,
): void {
  const [pathname = ''] = path.split('?', 1)
  const isAnonymous =
    lease.authorization === undefined && lease.credential.certificate === undefined
  const isRefused = refreshOn.includes(statusCode) && !isProxied(pathname) && !isAnonymous
  if (isRefused) keeper.reject(lease, refusalOf({ statusCode, headers }))
  else keeper.accept(lease, headers.date)
}
