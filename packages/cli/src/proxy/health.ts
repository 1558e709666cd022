import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { UsageError } from '../usage-error.ts'
import type { ProxyMetrics } from './proxy-metrics.ts'

/** Options of `startHealth`. */
export interface HealthOptions {
  readonly port: number
  /** Whether requests can be served right now. */
  readonly isReady: () => Promise<boolean>
  /** Also served, as `/metrics`. */
  readonly metrics?: Pick<ProxyMetrics, 'read'> | undefined
}

/** A running health endpoint. */
export interface Health {
  readonly port: number
  close(): Promise<void>
}

/** Far more than the kubelet needs, which probes one at a time. */
const MAX_CONNECTIONS = 32

/**
 * Serves `/livez` and `/readyz` for the kubelet, and `/metrics` if that is wanted.
 *
 * The kubelet connects from the node and cannot send a secret, so the endpoint listens on all addresses and reveals
 * nothing else.
 *
 * @throws {UsageError} If the port is not available.
 */
export async function startHealth({ port, isReady, metrics }: HealthOptions): Promise<Health> {
  const limits = { maxHeaderSize: 4096, headersTimeout: 2000, requestTimeout: 2000 }
  const server = createServer({ ...limits, connectionsCheckingInterval: 1000 })
  limitConnections(server)
  server.on('request', (request, response) => void answer(request, response, { isReady, metrics }))
  server.listen({ port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`cannot listen on port ${port} (--health-port): ${code}; use another port`)
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Closes the oldest connection at the limit, so that idle connections cannot lock out the kubelet. */
function limitConnections(server: Server): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    const [oldest] = open
    if (open.size >= MAX_CONNECTIONS) oldest?.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
}

async function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  { isReady, metrics }: Pick<HealthOptions, 'isReady' | 'metrics'>,
): Promise<void> {
  response.shouldKeepAlive = false
  response.setHeader('content-type', 'text/plain')
  response.setHeader('cache-control', 'no-store')
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && url === '/livez') response.end('ok\n')
  else if (isRead && url === '/readyz') {
    const ready = await isReady()
    response.statusCode = ready ? 200 : 503
    response.end(ready ? 'ok\n' : 'not ready\n')
  } else if (isRead && url === '/metrics' && metrics !== undefined) {
    const { type, body } = await metrics.read()
    response.setHeader('content-type', type)
    response.end(body)
  } else {
    response.statusCode = 404
    response.end('not found\n')
  }
}
