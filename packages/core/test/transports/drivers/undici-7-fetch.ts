import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createDispatcher } from 'kubecred/undici'
import type { WebSocket } from 'undici'
import type { Driver } from '../driver.ts'
import { undiciSignatures } from '../undici-signatures.ts'

/** `fetch` and `WebSocket` of undici itself, with our dispatcher. */
export const undici7FetchDriver: Driver = {
  name: 'kubecred/undici (fetch and WebSocket, undici 7)',
  tellsErrors: 'as the cause',
  signatures: undiciSignatures,
  async open(cluster) {
    const undici = await import('undici')
    const dispatcher = createDispatcher(cluster, undici)
    const { origin } = new URL(cluster.server)
    return {
      async send({ method = 'GET', server = origin, path, headers = {}, body, signal }) {
        const response = await undici.fetch(server + path, {
          dispatcher,
          method,
          headers: { ...headers },
          ...(body !== undefined && { body }),
          ...(body instanceof Readable && { duplex: 'half' }),
          ...(signal && { signal }),
        })
        const content = response.body
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: content ? Readable.fromWeb(content as NodeReadableStream) : Readable.from([]),
        }
      },
      async upgrade({ server = cluster.server, namespace, pod }) {
        const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?command=cat&stdin=true&stdout=true`
        const protocols = ['v5.channel.k8s.io']
        const socket = new undici.WebSocket(server.replace(/^http/, 'ws') + path, {
          dispatcher,
          protocols,
        })
        socket.binaryType = 'arraybuffer'
        await new Promise((resolve, reject) => {
          socket.addEventListener('open', resolve)
          socket.addEventListener('error', ({ error, message }) =>
            reject(error ?? new Error(message)),
          )
        })
        return overChannels(socket)
      },
      close: () => dispatcher.destroy(),
    }
  },
}

/** The first byte of a message is its channel: 0 is standard input, 1 standard output. */
function overChannels(socket: WebSocket): {
  echo(text: string): Promise<string>
  close(): Promise<void>
} {
  return {
    async echo(text) {
      socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]))
      for (;;) {
        const [{ data }] = (await once(socket, 'message')) as [{ data: ArrayBuffer }]
        const bytes = Buffer.from(data)
        if (bytes[0] === 1 && bytes.length > 1) return bytes.subarray(1).toString()
      }
    },
    async close() {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
