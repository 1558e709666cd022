import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** Methods that mean the connection itself. */
const METHODS = ['ref', 'unref', 'setKeepAlive', 'setNoDelay'] as const

/** What is known about the connection itself. */
const PROPERTIES = [
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  'localAddress',
  'localPort',
  'localFamily',
] as const

/**
 * Lets a TLS connection that does not know its socket show it, and hides what would be wrong.
 *
 * To Node the connection runs over some stream: without this `unref` would do nothing, and there would be
 * no addresses. The session and the Finished that OpenSSL knows belong to a flight that the server never
 * saw: a resumption with them fails, so nobody gets them.
 */
export function faceSocket(secured: TLSSocket, socket: Socket): void {
  for (const name of METHODS) {
    const call = socket[name] as (...args: unknown[]) => unknown
    define(secured, name, (...args: unknown[]): TLSSocket => {
      call.apply(socket, args)
      return secured
    })
  }
  for (const name of PROPERTIES) {
    Object.defineProperty(secured, name, { configurable: true, get: () => socket[name] })
  }
  define(secured, 'address', () => socket.address())
  define(secured, 'getSession', () => undefined)
  define(secured, 'getTLSTicket', () => undefined)
  define(secured, 'getFinished', () => undefined)
  const emit = secured.emit as (event: string, ...args: unknown[]) => boolean
  define(secured, 'emit', (event: string, ...args: unknown[]): boolean =>
    event === 'session' ? false : emit.call(secured, event, ...args),
  )
}

function define(secured: TLSSocket, name: keyof TLSSocket, value: unknown): void {
  Object.defineProperty(secured, name, { configurable: true, writable: true, value })
}
