import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Cluster } from 'kubecred'
import type { Opened, Sent } from './driver.ts'

/** Why `fetch` does not support upgrades. */
export const NO_UPGRADE = 'The fetch standard has no upgrade; kubecred/ws opens WebSockets.'

/** Drives `cluster.fetch`. */
export function fromFetch(cluster: Cluster, close: () => Promise<void>): Opened {
  return {
    async send({ method = 'GET', server = '', path, headers = {}, body, signal }: Sent) {
      const response = await cluster.fetch(server + path, {
        method,
        headers: { ...headers },
        ...(body !== undefined && { body: body as NonNullable<RequestInit['body']> }),
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
    close,
  }
}
