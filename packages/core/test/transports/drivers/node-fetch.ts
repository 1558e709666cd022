import { PassThrough, pipeline, Readable } from 'node:stream'
import { createAgent } from 'kubecred/https'
import fetch from 'node-fetch'
import type { Driver } from '../driver.ts'

/** node-fetch with our agent. */
export const nodeFetch: Driver = {
  name: 'node-fetch',
  tellsErrors: 'by code and message',
  cannot: {
    upgrade: 'The client node-fetch does not return upgraded connections.',
    'upgrade refused once': 'The client node-fetch does not return upgraded connections.',
  },
  async open(cluster) {
    const agent = createAgent(cluster)
    return {
      async send({ server = cluster.server, path, method = 'GET', headers = {}, body, signal }) {
        const response = await fetch(server + path, {
          method,
          headers: { ...headers },
          agent,
          ...(body !== undefined && { body }),
          ...(signal && { signal }),
        })
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: response.body === null ? Readable.from([]) : failingOnce(response.body),
        }
      },
      async close() {
        agent.destroy()
      },
    }
  },
}

/** node-fetch emits two errors for an abort, which readline does not expect. */
function failingOnce(body: NodeJS.ReadableStream): Readable {
  return pipeline(body, new PassThrough(), () => {})
}
