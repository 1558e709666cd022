import type { Socket } from 'node:net'

/** How many connections there have been, and how many there are. */
export interface ConnectionCounts {
  readonly opened: number
  readonly open: number
}

/** The TCP connections of a server, numbered from 1; a restart does not begin again. */
export class Connections {
  readonly #sockets = new Map<number, Socket>()
  // A TLS socket and the TCP socket below it are two objects; the client's port is the same.
  readonly #numbers = new Map<number, number>()
  #opened = 0

  get counts(): ConnectionCounts {
    return { opened: this.#opened, open: this.#sockets.size }
  }

  add(socket: Socket): void {
    this.#opened += 1
    const number = this.#opened
    const remotePort = socket.remotePort ?? 0
    this.#sockets.set(number, socket)
    this.#numbers.set(remotePort, number)
    socket.once('close', () => {
      this.#sockets.delete(number)
      if (this.#numbers.get(remotePort) === number) this.#numbers.delete(remotePort)
    })
    socket.on('error', () => {})
  }

  /** The number of a connection, be it the TCP or the TLS socket; 0 if it is not known. */
  numberOf(socket: Pick<Socket, 'remotePort'>): number {
    return this.#numbers.get(socket.remotePort ?? 0) ?? 0
  }

  /** Ends all connections at once, whatever they carry. */
  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
    this.#sockets.clear()
  }
}
