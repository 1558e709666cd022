import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/** Options of a restart. */
export interface RestartOptions {
  /** How long the server does not listen; by default 0. */
  readonly downMs?: number | undefined
}

/** A server that listens on the loopback address. */
export interface Listener {
  readonly port: number
  /** The current server; a restart creates a new one. */
  readonly server: Server
  /** Closes every connection, waits, and listens at the same port again. */
  restart(options?: RestartOptions): Promise<void>
  /** Closes every connection and stops listening. */
  close(): Promise<void>
}

/** The port and the server of a listener. */
export interface ListenerOptions {
  readonly port: number
  readonly connections: Connections
  readonly createServer: () => Server
}

/** The address that every sandbox listens at. */
export const LOOPBACK = '127.0.0.1'

// During a restart the system may assign the port to an outgoing connection.
const BIND_ATTEMPTS = 20
const BIND_PAUSE_MS = 50

/** Starts a listener. Resolves when connections are accepted. */
export async function listen({
  port: requestedPort,
  connections,
  createServer,
}: ListenerOptions): Promise<Listener> {
  const start = async (port: number): Promise<Server> => bind(createServer(), port, connections)
  let server = await start(requestedPort)
  const { port } = server.address() as AddressInfo
  const closing = new AbortController()
  let restarting: Promise<void> | undefined

  const startAgain = async ({ downMs = 0 }: RestartOptions): Promise<void> => {
    await stop(server, connections)
    await pause(downMs, closing.signal)
    for (let attempt = 1; !closing.signal.aborted; attempt += 1) {
      try {
        server = await start(port)
        return
      } catch (error) {
        if (attempt === BIND_ATTEMPTS || !isPortTaken(error)) throw error
        await pause(BIND_PAUSE_MS, closing.signal)
      }
    }
  }
  return {
    port,
    get server() {
      return server
    },
    restart: async (options = {}) => {
      if (closing.signal.aborted) throw new Error('the sandbox is closed')
      restarting ??= startAgain(options).finally(() => {
        restarting = undefined
      })
      return restarting
    },
    close: async () => {
      closing.abort()
      await restarting
      if (server.listening) await stop(server, connections)
    },
  }
}

async function bind(server: Server, port: number, connections: Connections): Promise<Server> {
  server.on('connection', (socket: Socket) => connections.add(socket))
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  return server
}

async function stop(server: Server, connections: Connections): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  connections.destroyAll()
  await closed
}

/** Waits for a time, or until the sandbox is closed. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {})
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
