import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { UsageError } from '../usage-error.ts'

export interface HealthOptions {
  readonly port: number
  /** Whether requests can be served right now. */
  readonly isReady: () => Promise<boolean>
}

/** Answers those who ask whether the proxy is well. */
export interface Health {
  readonly port: number
  close(): Promise<void>
}

/** Probes come one at a time; whoever opens more is no probe. */
const MOST_CONNECTIONS = 32

/**
 * Serves `/livez` and `/readyz` for the kubelet.
 *
 * It comes from the node and can show no secret, so the listener is on every address and says one word.
 *
 * @throws {UsageError} When the port cannot be had.
 */
export async function startHealth({ port, isReady }: HealthOptions): Promise<Health> {
  const limits = { maxHeaderSize: 4096, headersTimeout: 2000, requestTimeout: 2000 }
  const server = createServer({ ...limits, connectionsCheckingInterval: 1000 })
  keepFew(server)
  server.on('request', (request, response) => void answer(request, response, isReady))
  server.listen({ port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`cannot listen at port ${port} (--health-port): ${code}; name another`)
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

/** Whoever opens many and says nothing must not keep the kubelet out: the oldest makes room. */
function keepFew(server: Server): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    const [oldest] = open
    if (open.size >= MOST_CONNECTIONS) oldest?.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
}

async function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  isReady: () => Promise<boolean>,
): Promise<void> {
  response.shouldKeepAlive = false
  response.setHeader('content-type', 'text/plain')
  response.setHeader('cache-control', 'no-store')
  const isAsked = method === 'GET' || method === 'HEAD'
  if (isAsked && url === '/livez') response.end('ok\n')
  else if (isAsked && url === '/readyz') {
    const isGood = await isReady()
    response.statusCode = isGood ? 200 : 503
    response.end(isGood ? 'ok\n' : 'not ready\n')
  } else {
    response.statusCode = 404
    response.end('not found\n')
  }
}
