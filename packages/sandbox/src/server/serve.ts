import { type TlsOptions, Server as TlsServer } from 'node:tls'
import { answerUpgrade } from './answer-upgrade.ts'
import { type ConnectionCounts, Connections } from './connections.ts'
import { createServer, type Listeners } from './create-server.ts'
import { type Handling, handle } from './handle.ts'
import { LOOPBACK, listen, type RestartOptions } from './listener.ts'
import { isTooLate } from './retire-session.ts'

/** Where and how to serve. Without `tls` the server speaks plain HTTP. */
export interface ServeOptions {
  readonly port: number
  readonly http2: boolean
  /** Asked at every start and for every renewal. */
  readonly tls?: () => TlsOptions
}

/** A server that answers requests. */
export interface Served {
  readonly url: string
  readonly connections: ConnectionCounts
  restart(options?: RestartOptions): Promise<void>
  /** Ends all connections and goes on listening. */
  dropConnections(): void
  /** Uses other TLS options for new connections; those that are open go on. */
  renewTls(): void
  close(): Promise<void>
}

/** Puts the handling of requests behind a listener. */
export async function serve(
  handling: Omit<Handling, 'connectionOf'>,
  { port, http2, tls }: ServeOptions,
): Promise<Served> {
  const connections = new Connections()
  const using: Handling = {
    ...handling,
    connectionOf: ({ socket }) => connections.numberOf(socket),
  }
  const listeners: Listeners = {
    onRequest: (request, response) => {
      if (isTooLate(request)) return
      handle({ request, response }, using).catch(() => response.destroy())
    },
    onUpgrade: (request, socket, head) => answerUpgrade(request, socket, head, using),
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
