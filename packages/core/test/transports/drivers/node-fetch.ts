import { PassThrough, pipeline, Readable } from 'node:stream'
import { createAgent } from 'kubecred/https'
import fetch from 'node-fetch'
import type { Driver } from '../driver.ts'

/** node-fetch with our agent. */
export const nodeFetch: Driver = {
  name: 'node-fetch',
  tellsErrors: 'by code and message',
  cannot: {
    upgrade: 'With node-fetch there is no way to an upgraded connection.',
    'upgrade refused once': 'With node-fetch there is no way to an upgraded connection.',
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

/** node-fetch tells of an abort twice, which is once too often for whoever reads lines. */
function failingOnce(body: NodeJS.ReadableStream): Readable {
  return pipeline(body, new PassThrough(), () => {})
}
