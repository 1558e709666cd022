import type { Duplex, Readable, Writable } from 'node:stream'
import type { Target } from '../dial/target.ts'
import type { Lease } from '../keeper/lease.ts'
import type { Closable } from '../keeper/resource-cache.ts'
import type { Controller, Handler, ResponseHeaders } from './handler.ts'
import type { Alerts } from './tls-alerts.ts'

/** Names in lower case. A list is a header that is there more than once. */
export type HeaderValues = Record<string, string | string[]>

/** One request to be sent now, and the handler of its response. */
export interface Sendable extends Handler {
  readonly method: string
  readonly path: string
  readonly requestHeaders: HeaderValues
  readonly requestBody: Uint8Array | Readable | undefined
  /** Whether the response stays open by design. */
  readonly isStream: boolean
  /** The gate's round: with a new one, short requests need connections that no long response holds. */
  readonly round: number
  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
    statusText?: string,
  ): void
  onResponseStart: NonNullable<Handler['onResponseStart']>
  onResponseData: NonNullable<Handler['onResponseData']>
  onResponseEnd: NonNullable<Handler['onResponseEnd']>
  /** Called without a controller when the request failed before a connection was there. */
  onResponseError(controller: Controller | null | undefined, error: Error): void
}

/** Whose connections they are: a certificate belongs to the connection, headers to the request. */
export type ConnectionOwner = Pick<Lease, 'credential' | 'derived'>

/** An implementation of HTTP. It knows nothing of credentials that are headers, and nothing of refusals. */
export interface Exchange {
  /** Whether it limits the number of requests itself: then they pass no gate of ours. */
  readonly limitsRequests?: boolean
  /** Whether the connections are the user's own: what they trust is not for a login to say. */
  readonly isForeign?: boolean
  /** The connections of one identity to one server: the same object for the same two. They end with the identity. */
  open(target: Target, owner: ConnectionOwner): Connections
}

/** The connections of one identity to one server. `close` lets what is in flight finish. */
export interface Connections extends Closable {
  /** Whether they take no more requests: then others must be opened. */
  readonly isClosed: boolean
  /** TLS alerts of these connections, for an exchange whose errors do not mention them. */
  readonly alerts?: Alerts | undefined
  /** Sends a request. Its handler receives everything, also an error that is found at once. */
  send(request: Sendable): void
}

/** How many connections short requests get over HTTP/1.1 where each costs a signature. */
export const MAX_SIGNING_CONNECTIONS = 4

/** Limits of the connections of one identity to one server. */
export interface ConnectionLimits {
  /** Short requests at once. */
  readonly requests: number
  /** Watches and other long responses at once. */
  readonly streams: number
}

/**
 * Sends a body on its way, and the end of the request with it.
 *
 * @param fail Told why the body cannot be sent; it may have failed while the connection was made.
 */
export function sendBody(
  body: Uint8Array | Readable | undefined,
  request: Writable,
  fail: (reason: Error) => void,
): void {
  if (body === undefined || body instanceof Uint8Array) request.end(body)
  else if (body.errored) fail(body.errored)
  else body.once('error', fail).pipe(request)
}
