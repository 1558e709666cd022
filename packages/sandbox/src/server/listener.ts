import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/** How long a server stays away before it listens again. */
export interface RestartOptions {
  /** 0 unless told. */
  readonly downMs?: number | undefined
}

/** A server that listens on the loopback address. */
export interface Listener {
  readonly port: number
  /** The server of the moment; a restart makes a new one. */
  readonly server: Server
  /** Ends every connection, stays away, and listens at the same port again. */
  restart(options?: RestartOptions): Promise<void>
  /** Ends every connection at once and stops listening. */
  close(): Promise<void>
}

/** Where to listen, and with what. */
export interface ListenerOptions {
  readonly port: number
  readonly connections: Connections
  readonly createServer: () => Server
}

/** The only address that a sandbox listens at. */
export const LOOPBACK = '127.0.0.1'

// Between two servers a client's outgoing connection may happen to be given our port.
const BIND_ATTEMPTS = 20
const BIND_PAUSE_MS = 50

/** Starts to listen; resolves when connections are accepted. */
export async function listen({
  port: wanted,
  connections,
  createServer,
}: ListenerOptions): Promise<Listener> {
  const start = async (port: number): Promise<Server> => bind(createServer(), port, connections)
  let server = await start(wanted)
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

/** Waits, or not to the end if the sandbox is closed meanwhile. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {})
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
