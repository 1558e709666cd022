import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** More than some open tabs and a scraper need; few enough to cost nothing. */
const MOST_CONNECTIONS = 64

/**
 * Bounds the connections of a server. When one too many comes, the oldest one goes that nobody with the secret uses:
 * who opens many connections and says nothing does not keep the others out.
 */
export class PageConnections {
  /** In the order they came. */
  readonly #open = new Set<Socket>()
  readonly #trusted = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#trusted.delete(socket)
      })
      if (this.#open.size > MOST_CONNECTIONS) this.#dropOldest(socket)
    })
  }

  /** Who is behind it has shown the secret. */
  trust(socket: Socket): void {
    this.#trusted.add(socket)
  }

  #dropOldest(newest: Socket): void {
    for (const socket of this.#open) {
      if (this.#trusted.has(socket) || socket === newest) continue
      socket.destroy()
      // Its close event comes later, when others may have come.
      this.#open.delete(socket)
      return
    }
    newest.destroy()
  }
}
