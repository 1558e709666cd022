import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy to the API server whose connections can be cut. */
export class CuttableProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #sockets: Set<Socket>

  private constructor(server: Server, sockets: Set<Socket>) {
    const address = server.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    this.url = `https://127.0.0.1:${port}`
    this.#server = server
    this.#sockets = sockets
  }

  static async start(to: string): Promise<CuttableProxy> {
    const { hostname, port } = new URL(to)
    const sockets = new Set<Socket>()
    const server = createServer((near) => {
      const far = connect(Number(port), hostname)
      for (const [from, into] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from)
        from.on('error', () => into.destroy()).on('close', () => sockets.delete(from))
        from.pipe(into)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new CuttableProxy(server, sockets)
  }

  /** Destroys every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
