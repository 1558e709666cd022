import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { ask } from './ask.ts'

/** How often a backend is probed. The kubelet does it more rarely, and a proxy has longer to drain. */
const PROBE_MS = 50

/** A process behind the balancer. */
export interface Backend {
  readonly port: number
  readonly healthPort: number
}

/**
 * Stands in for a Service, which needs a kubelet and kube-proxy: sends each TCP connection to a backend that is ready, in
 * turn. An open connection stays with its backend, and nothing is tried a second time.
 */
export class Balancer {
  readonly #server = net.createServer((client) => this.#connect(client))
  readonly #backends = new Map<Backend, boolean>()
  #turn = 0
  #timer: NodeJS.Timeout | undefined

  /** Starts to listen, and returns the port. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#timer = setInterval(() => void this.#probe(), PROBE_MS)
    return (this.#server.address() as AddressInfo).port
  }

  add(backend: Backend): void {
    this.#backends.set(backend, false)
  }

  remove(backend: Backend): void {
    this.#backends.delete(backend)
  }

  isReady(backend: Backend): boolean {
    return this.#backends.get(backend) === true
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server.close()
  }

  async #probe(): Promise<void> {
    for (const backend of this.#backends.keys()) {
      const url = `http://127.0.0.1:${backend.healthPort}/readyz`
      const isReady = await ask(url).then(
        ({ status }) => status === 200,
        () => false,
      )
      if (this.#backends.has(backend)) this.#backends.set(backend, isReady)
    }
  }

  #connect(client: net.Socket): void {
    const ready = [...this.#backends].filter(([, isReady]) => isReady)
    this.#turn += 1
    const backend = ready[this.#turn % ready.length]?.[0]
    if (backend === undefined) {
      client.destroy()
      return
    }
    const upstream = net.connect(backend.port, '127.0.0.1')
    pipeline(client, upstream, client, () => {})
  }
}
