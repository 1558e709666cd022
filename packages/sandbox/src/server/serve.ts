import { type TlsOptions, Server as TlsServer } from 'node:tls'
import { answerUpgrade } from './answer-upgrade.ts'
import { type ConnectionCounts, Connections } from './connections.ts'
import { createServer, type Listeners } from './create-server.ts'
import { type HandlerContext, handle } from './handle.ts'
import { LOOPBACK, listen, type RestartOptions } from './listener.ts'
import { isTooLate } from './retire-session.ts'

/** The port and the protocols to serve. Without `tls` it is plain HTTP. */
export interface ServeOptions {
  readonly port: number
  readonly http2: boolean
  /** Called at every start and by `renewTls`. */
  readonly tls?: () => TlsOptions
}

/** A running server. */
export interface RunningServer {
  readonly url: string
  readonly connections: ConnectionCounts
  restart(options?: RestartOptions): Promise<void>
  /** Closes all connections, and continues to listen. */
  dropConnections(): void
  /** Applies new TLS options to new connections; open ones stay open. */
  renewTls(): void
  close(): Promise<void>
}

/** Starts a server. */
export async function serve(
  handlerOptions: Omit<HandlerContext, 'connectionOf'>,
  { port, http2, tls }: ServeOptions,
): Promise<RunningServer> {
  const connections = new Connections()
  const context: HandlerContext = {
    ...handlerOptions,
    connectionOf: ({ socket }) => connections.numberOf(socket),
  }
  const listeners: Listeners = {
    onRequest: (request, response) => {
      if (isTooLate(request)) return
      handle({ request, response }, context).catch(() => response.destroy())
    },
    onUpgrade: (request, socket, head) => answerUpgrade(request, socket, head, context),
  }
  const listener = await listen({
    port,
    connections,
    createServer: () =>
      createServer({ http2, ...(tls === undefined ? {} : { tls: tls() }) }, listeners),
  })
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${LOOPBACK}:${listener.port}`,
    get connections() {
      return connections.counts
    },
    restart: async (options) => listener.restart(options),
    dropConnections: () => connections.destroyAll(),
    renewTls: () => {
      const { server } = listener
      if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(tls())
    },
    close: async () => listener.close(),
  }
}
