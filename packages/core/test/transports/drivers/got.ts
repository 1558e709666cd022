import { got, type Method, type Response } from 'got'
import { createAgent } from 'kubecred/https'
import type { Driver } from '../driver.ts'

/** got with our agent. */
export const gotDriver: Driver = {
  name: 'got',
  tellsErrors: 'as the cause',
  cannot: {
    upgrade: 'The client got does not return upgraded connections.',
    'upgrade refused once': 'The client got does not return upgraded connections.',
  },
  async open(cluster) {
    const agent = createAgent(cluster)
    return {
      send: ({ server = cluster.server, path, method = 'GET', headers = {}, body, signal }) =>
        new Promise((resolve, reject) => {
          const stream = got.stream(server + path, {
            method: method as Method,
            headers: { ...headers },
            agent: { https: agent, http: agent },
            throwHttpErrors: false,
            retry: { limit: 0 },
            ...(body !== undefined && { body }),
            ...(signal && { signal }),
          })
          stream.on('error', reject)
          stream.once('response', ({ statusCode, headers: got }: Response) =>
            resolve({ status: statusCode, headers: got, body: stream }),
          )
        }),
      async close() {
        agent.destroy()
      },
    }
  },
}
