import { TLSSocket } from 'node:tls'
import type { Authentication } from '../authentication/authenticate.ts'
import type { Incoming } from './exchange.ts'
import type { HttpVersion, OpenRecord } from './request-log.ts'

/** Creates the record of a request with everything that is known before it is answered. */
export function openRecord(
  request: Incoming,
  { user, ...credentials }: Authentication,
  { time, connection }: Pick<OpenRecord, 'time' | 'connection'>,
): OpenRecord {
  const { socket } = request
  return {
    time,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    httpVersion: request.httpVersion as HttpVersion,
    connection,
    tlsSessionReused: socket instanceof TLSSocket && socket.isSessionReused(),
    ...(user === undefined ? {} : { user: user.username }),
    ...credentials,
  }
}
