import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  type TLSSocket,
} from 'node:tls'
import { explainEarlyAlert } from '../tls/alert.ts'

const TCP_KEEP_ALIVE_MS = 30_000

/** A host and a port. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Starts a TCP connection. */
export function startTcp({ host, port }: Address): Socket {
  return prepare(connectTcp({ host, port }))
}

/** Starts a TLS connection, to an address or over `socket`; offers HTTP/1.1 by default. */
export function startTls(options: ConnectionOptions): Socket {
  return prepare(connectTls({ ALPNProtocols: ['http/1.1'], ...options }))
}

/**
 * Sets socket options, and an error listener: an error before the caller adds its own must not crash the process.
 *
 * The options are set when it is connected: TLS sockets ignore them as options of connect, and set earlier they make
 * connect fail under Wine.
 */
function prepare(socket: Socket): Socket {
  return socket
    .once('connect', () => socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS))
    .on('error', () => {})
}

/** Starts TLS over an open socket and waits for the handshake. */
export function startTlsOver(socket: Socket, options: ConnectionOptions): Promise<Socket> {
  const secured = startTls({ ...options, socket })
  socket.once('error', (error) => secured.destroy(error))
  return waitForConnect(secured, 'secureConnect')
}

/** Returns the options for a server name: SNI only if it is not an IP address (RFC 6066), verification in any case. */
export function serverNameOptions(name: string): ConnectionOptions {
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  }
}

/** Waits until a socket is connected; rejects with its error, or if it closes first. */
export function waitForConnect(
  socket: Socket,
  event: 'connect' | 'secureConnect',
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const leave = (): void => void socket.off(event, done).off('error', fail).off('close', closed)
    const done = (): void => {
      leave()
      resolve(socket)
    }
    const fail = (error: Error): void => {
      leave()
      // The client sends its certificate after the server, so an earlier alert cannot be about it.
      reject(
        event === 'secureConnect' && !hasServerCertificate(socket)
          ? explainEarlyAlert(error)
          : error,
      )
    }
    const closed = (): void => fail(codedError('ECONNRESET', 'closed before it was connected'))
    socket.on(event, done).on('error', fail).on('close', closed)
  })
}

/** Whether the server has sent its certificate. */
function hasServerCertificate(socket: Socket): boolean {
  return Object.keys((socket as TLSSocket).getPeerCertificate() ?? {}).length > 0
}

/** Returns the error for a connection that was not open in time. */
export function timeoutError(): Error {
  return codedError('ETIMEDOUT', 'no connection within the time limit')
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
