import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  type TLSSocket,
} from 'node:tls'
import { explainEarlyAlert } from '../tls/alert.ts'

const TCP_KEEP_ALIVE_MS = 30_000

export interface Address {
  readonly host: string
  readonly port: number
}

/** Begins a TCP connection. */
export function startTcp({ host, port }: Address): Socket {
  return prepare(connectTcp({ host, port }))
}

/** Begins a TLS connection, to an address or over `socket`; it speaks HTTP/1.1 unless told. */
export function startTls(options: ConnectionOptions): Socket {
  return prepare(connectTls({ ALPNProtocols: ['http/1.1'], ...options }))
}

/** Between two owners nobody listens, and an error that nobody hears would end the process. */
function prepare(socket: Socket): Socket {
  return socket
    .setNoDelay(true)
    .setKeepAlive(true, TCP_KEEP_ALIVE_MS)
    .on('error', () => {})
}

/** Speaks TLS over a connection that is there. */
export function wrap(socket: Socket, options: ConnectionOptions): Promise<Socket> {
  const secured = startTls({ ...options, socket })
  socket.once('error', (error) => secured.destroy(error))
  return opened(secured, 'secureConnect')
}

/** The name goes into the handshake only if it is one (RFC 6066), and is checked in any case. */
export function named(name: string): ConnectionOptions {
  return {
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  }
}

/** Waits until a connection is made; fails with its error, or when it closes before. */
export function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const leave = (): void => void socket.off(event, done).off('error', fail).off('close', closed)
    const done = (): void => {
      leave()
      resolve(socket)
    }
    const fail = (error: Error): void => {
      leave()
      // A client shows its certificate after the server's.
      reject(event === 'secureConnect' && !hasPeer(socket) ? explainEarlyAlert(error) : error)
    }
    const closed = (): void => fail(failure('ECONNRESET', 'closed before the connection was made'))
    socket.on(event, done).on('error', fail).on('close', closed)
  })
}

/** Whether the server's certificate has come. */
function hasPeer(socket: Socket): boolean {
  return Object.keys((socket as TLSSocket).getPeerCertificate() ?? {}).length > 0
}

/** What a connection is ended with when its time has passed. */
export function timedOut(): Error {
  return failure('ETIMEDOUT', 'no connection within the time limit')
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
