import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** More than a few open tabs and a scraper need. */
const MAX_CONNECTIONS = 64

/**
 * Limits the connections of a server. At the limit, the oldest unauthenticated connection is closed, so that clients
 * without the secret cannot lock out others.
 */
export class PageConnections {
  /** In the order in which they were opened. */
  readonly #open = new Set<Socket>()
  readonly #trusted = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#trusted.delete(socket)
      })
      if (this.#open.size > MAX_CONNECTIONS) this.#dropOldest(socket)
    })
  }

  /** Marks a connection as authenticated. */
  trust(socket: Socket): void {
    this.#trusted.add(socket)
  }

  #dropOldest(newest: Socket): void {
    for (const socket of this.#open) {
      if (this.#trusted.has(socket) || socket === newest) continue
      socket.destroy()
      // Its close event comes later, when more connections may have been opened.
      this.#open.delete(socket)
      return
    }
    newest.destroy()
  }
}
