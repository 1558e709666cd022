import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** An HTTP proxy that opens any tunnel and records the requests. */
export class RecordingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** One line per tunnel: the target, and the user and password. */
  readonly seen: string[] = []

  private constructor() {
    this.#server = createServer((_, response) => response.writeHead(501).end())
    this.#server.on('connect', (request, client: Socket) => {
      const shown = request.headers['proxy-authorization'] ?? 'nothing'
      this.seen.push(`${request.url} with ${shown}`)
      const [, port] = (request.url ?? '').split(':')
      const server = connect(Number(port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        server.pipe(client).pipe(server)
      })
      this.#keep(client, server)
      this.#keep(server, client)
    })
  }

  static async start(): Promise<RecordingProxy> {
    const proxy = new RecordingProxy()
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      this.#sockets.delete(socket)
      other.destroy()
    })
  }
}
