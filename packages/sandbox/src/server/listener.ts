import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
} from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'

/** How many connections there have been, and how many there are. */
export interface ConnectionCounts {
  readonly opened: number
  readonly open: number
}

/** A server that listens on the loopback address. */
export interface Listener {
  readonly url: string
  readonly connections: ConnectionCounts
  /** Ends every connection at once and stops listening. */
  close(): Promise<void>
}

/** Tells which connection carried a request, counted from 1; 0 if it is not known. */
export type ConnectionOf = (request: IncomingMessage) => number

/** Where and how to listen. Without `tls` the server speaks plain HTTP. */
export interface ListenerOptions {
  readonly port: number
  readonly tls?: ServerOptions
  readonly onRequest: (connectionOf: ConnectionOf) => RequestListener
}

const LOOPBACK = '127.0.0.1'

/** Starts to listen; resolves when connections are accepted. */
export async function listen({ port, tls, onRequest }: ListenerOptions): Promise<Listener> {
  const sockets = new Map<number, Socket>()
  let opened = 0
  // A TLS socket and the TCP socket below it are two objects; the client's port is the same.
  const numbers = new Map<number, number>()
  const connectionOf: ConnectionOf = ({ socket }) => numbers.get(socket.remotePort ?? 0) ?? 0
  const server = create(tls, onRequest(connectionOf))
  server.on('connection', (socket: Socket) => {
    opened += 1
    const number = opened
    const remotePort = socket.remotePort ?? 0
    sockets.set(number, socket)
    numbers.set(remotePort, number)
    socket.once('close', () => {
      sockets.delete(number)
      if (numbers.get(remotePort) === number) numbers.delete(remotePort)
    })
    socket.on('error', () => {})
  })
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${LOOPBACK}:${address.port}`,
    get connections() {
      return { opened, open: sockets.size }
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets.values()) socket.destroy()
      await closed
    },
  }
}

function create(tls: ServerOptions | undefined, listener: RequestListener): Server {
  // Slow clients are something to test with, not something to defend against.
  const patience = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }
  if (tls === undefined) return createHttpServer(patience, listener)
  return createHttpsServer({ ...tls, ...patience }, listener)
}
