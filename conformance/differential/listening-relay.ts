import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { describeHello } from './client-hello.ts'

/** What a connection showed before anything of it was encrypted. */
export interface SeenConnection {
  /** `TLS for NAME` by the name in the greeting (SNI), `TLS` without one, `no TLS`. */
  readonly beginning: string
}

/** Stands before a server, passes every byte on, and notes what no server tells: how connections begin. */
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
    // Both greetings fit into one packet on this machine.
    client.once('data', (first) => {
      this.seen.push({ beginning: describeHello(first) })
      server.write(first)
      client.pipe(server)
      server.pipe(client)
    })
  }
}
