import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { describeHello } from './client-hello.ts'

/** What is visible of a connection before it is encrypted. */
export interface SeenConnection {
  /** `TLS for NAME` with the server name (SNI), `TLS` without one, `no TLS`. */
  readonly beginning: string
}

/** A relay in front of a server that forwards every byte, and records how connections begin. */
export class ListeningRelay {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly seen: SeenConnection[] = []

  private constructor(port: number) {
    this.#server = createServer((client) => this.#pass(client, port))
  }

  /** Listens on a free port of the loopback interface. */
  static async before(port: number): Promise<ListeningRelay> {
    const relay = new ListeningRelay(port)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(client: Socket, port: number): void {
    const server = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    // On the loopback interface the ClientHello arrives in one packet.
    client.once('data', (first) => {
      this.seen.push({ beginning: describeHello(first) })
      server.write(first)
      client.pipe(server)
      server.pipe(client)
    })
  }
}
