import type { Socket } from 'node:net'

/** The number of connections since the start, and of those that are open. */
export interface ConnectionCounts {
  readonly opened: number
  readonly open: number
}

/** The TCP connections of a server, numbered from 1. A restart does not reset the numbers. */
export class Connections {
  readonly #sockets = new Map<number, Socket>()
  // By remote port, because a TLS socket and the TCP socket below it are different objects.
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

  /** Returns the number of a connection by its TCP or TLS socket; 0 if it is unknown. */
  numberOf(socket: Pick<Socket, 'remotePort'>): number {
    return this.#numbers.get(socket.remotePort ?? 0) ?? 0
  }

  /** Destroys all connections. */
  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
    this.#sockets.clear()
  }
}
