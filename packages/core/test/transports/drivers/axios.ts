import axios from 'axios'
import { createAgent } from 'kubecred/https'
import type { Driver } from '../driver.ts'

/** axios with our agent. */
export const axiosDriver: Driver = {
  name: 'axios',
  tellsErrors: 'as the cause',
  cannot: {
    upgrade: 'The client axios does not return upgraded connections.',
    'upgrade refused once': 'The client axios does not return upgraded connections.',
  },
  async open(cluster) {
    const httpsAgent = createAgent(cluster)
    const client = axios.create({
      baseURL: cluster.server,
      httpsAgent,
      httpAgent: httpsAgent,
      proxy: false,
      responseType: 'stream',
      validateStatus: () => true,
    })
    return {
      async send({ server, path, method = 'GET', headers = {}, body, signal }) {
        const response = await client.request({
          url: path,
          ...(server !== undefined && { baseURL: server }),
          method,
          headers: { ...headers },
          ...(body !== undefined && { data: body }),
          ...(signal && { signal }),
        })
        return {
          status: response.status,
          headers: response.headers as Record<string, string | string[] | undefined>,
          body: response.data,
        }
      },
      async close() {
        httpsAgent.destroy()
      },
    }
  },
}
