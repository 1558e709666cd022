import type { Duplex, Readable, Writable } from 'node:stream'
import type { Target } from '../dial/target.ts'
import type { Lease } from '../keeper/lease.ts'
import type { Closable } from '../keeper/resource-cache.ts'
import type { Controller, Handler, ResponseHeaders } from './handler.ts'
import type { TlsAlerts } from './tls-alerts.ts'

/** Request headers, names in lower case. A list is a header that occurs more than once. */
export type HeaderValues = Record<string, string | string[]>

/** One request to send, and the handler of its response. */
export interface Sendable extends Handler {
  readonly method: string
  readonly path: string
  readonly requestHeaders: HeaderValues
  readonly requestBody: Uint8Array | Readable | undefined
  /** Whether the response stays open by design. */
  readonly isStream: boolean
  /** The gate's round. When it changes, short requests need connections that no long response holds. */
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
  /** Called without a controller if the request failed before there was a connection. */
  onResponseError(controller: Controller | null | undefined, error: Error): void
}

/** The identity that connections belong to: a certificate is part of a connection, headers are part of a request. */
export type ConnectionOwner = Pick<Lease, 'credential' | 'resources'>

/** An implementation of HTTP. It does not handle credentials in headers, nor refusals. */
export interface Exchange {
  /** Whether it limits the number of requests itself, so that they do not pass the gate. */
  readonly limitsRequests?: boolean
  /** Whether the connections are the user's own: a login then does not decide which servers they trust. */
  readonly isUserOwned?: boolean
  /**
   * Returns the connections of one identity to one server.
   *
   * The same arguments give the same object. The connections end with the identity.
   */
  open(target: Target, owner: ConnectionOwner): Connections
}

/** The connections of one identity to one server. `close` lets requests in flight finish. */
export interface Connections extends Closable {
  /** Whether they accept no more requests, so that others must be opened. */
  readonly isClosed: boolean
  /** TLS alerts of these connections, for an exchange whose errors do not mention them. */
  readonly alerts?: TlsAlerts | undefined
  /** Sends a request. All results go to its handler, including errors that are found at once. */
  send(request: Sendable): void
}

/** How many HTTP/1.1 connections short requests may use when each connection needs a signature. */
export const MAX_SIGNING_CONNECTIONS = 4

/** Limits on the requests of one identity to one server. */
export interface ConnectionLimits {
  /** Short requests at once. */
  readonly requests: number
  /** Watches and other long responses at once. */
  readonly streams: number
}

/**
 * Writes a body, and ends the request with it.
 *
 * @param fail Called if the body cannot be sent; it may have failed while the connection was made.
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
