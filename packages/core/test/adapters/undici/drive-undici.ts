import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Opened, Sent } from '../../transports/driver.ts'

/**
 * Drives a dispatcher by `request()` and `upgrade()`.
 *
 * Works with any version: what is used here is the same in all, so the types of one are enough.
 */
export function driveDispatcher(given: object, origin: string): Opened {
  const dispatcher = given as Dispatcher
  return {
    async send({ method = 'GET', server = origin, path, headers = {}, body, signal }: Sent) {
      const answer = await dispatcher.request({
        origin: server,
        path,
        method: method as Dispatcher.HttpMethod,
        headers: { ...headers },
        body: body ?? null,
        signal: signal ?? null,
      })
      return { status: answer.statusCode, headers: answer.headers, body: answer.body as Readable }
    },
    async upgrade({ server = origin, namespace, pod, signal }) {
      const { socket } = await dispatcher.upgrade({
        origin: server,
        path: `/api/v1/namespaces/${namespace}/pods/${pod}/exec?command=cat&stdin=true&stdout=true`,
        method: 'POST',
        protocol: 'SPDY/3.1',
        headers: { 'x-stream-protocol-version': 'v4.channel.k8s.io' },
        signal: signal ?? null,
      } as Dispatcher.UpgradeOptions)
      return overSocket(socket)
    },
    close: () => dispatcher.destroy(),
  }
}

/** The sandbox echoes every byte after such an upgrade. */
function overSocket(socket: Duplex): Awaited<ReturnType<NonNullable<Opened['upgrade']>>> {
  return {
    async echo(text) {
      socket.write(text)
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      return chunk.toString()
    },
    async close() {
      socket.end()
      socket.resume()
      if (!socket.closed) await once(socket, 'close')
    },
  }
}
