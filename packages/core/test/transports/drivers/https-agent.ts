import type { Cluster } from 'kubecred'
import { type AgentOptions, createAgent } from 'kubecred/https'
import { WebSocket } from 'ws'
import { request } from '../../adapters/https/request.ts'
import { asUpgraded, EXEC_PROTOCOLS, execPath } from '../../adapters/ws/exec-echo.ts'
import type { Driver, Opened } from '../driver.ts'

/** `node:https` with our agent. Upgrades are those of `ws` with the same agent. */
export const httpsAgent: Driver = {
  name: 'https.Agent',
  tellsErrors: 'as it is',
  open: async (cluster) => openAgent(cluster),
}

export function openAgent(cluster: Cluster, options?: AgentOptions): Opened {
  const agent = createAgent(cluster, options)
  return {
    async send(sent) {
      const response = await request(sent.server ?? cluster.server, agent, sent)
      return { status: response.statusCode ?? 0, headers: response.headers, body: response }
    },
    upgrade: ({ server = cluster.server, namespace, pod, signal }) =>
      new Promise((resolve, reject) => {
        const url = server.replace(/^http/, 'ws') + execPath(namespace, pod)
        const socket = new WebSocket(url, EXEC_PROTOCOLS, { agent })
        socket.once('open', () => resolve(asUpgraded(socket)))
        socket.on('error', reject)
        signal?.addEventListener('abort', () => {
          reject(signal.reason)
          socket.terminate()
        })
      }),
    async close() {
      agent.destroy()
    },
  }
}
