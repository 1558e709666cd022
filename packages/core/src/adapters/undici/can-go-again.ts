import { isBrokenConnection } from '../../transport/network-errors.ts'
import type { DispatchOptions } from './undici-module.ts'

/**
 * Whether a request that had no answer may be sent once more over another connection.
 *
 * A kept-alive connection may have died unnoticed: what changes nothing on the server can go again, and
 * so can what the server has not looked at.
 */
export function canGoAgain(error: Error, { method }: DispatchOptions): boolean {
  const isSafe = method === 'GET' || method === 'HEAD'
  return isUnprocessed(error) || (isSafe && isBrokenConnection(error))
}

/** undici 8 says so of requests that came after the last one that an HTTP/2 server took from a connection. */
function isUnprocessed(error: Error): boolean {
  return (error as { code?: string }).code === 'UND_ERR_INFO' && error.message.includes('GOAWAY')
}
