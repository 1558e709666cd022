import { once } from 'node:events'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { Cluster } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { createDispatcher } from 'kubecred/undici'
import type { Dispatcher } from 'undici'

interface Upgraded {
  readonly socket: Duplex
  close(): Promise<void>
}

/** Opens a connection and upgrades it to SPDY. */
type OpenSpdy = (cluster: Cluster, path: string, protocol: string) => Promise<Upgraded>

const HEADER = 'x-stream-protocol-version'

/** Clients that return the connection after `Upgrade: SPDY/3.1`, by name. */
export const SPDY_CLIENTS: Readonly<Record<string, OpenSpdy>> = {
  'our https.Agent': async (cluster, path, protocol) => {
    const agent = createAgent(cluster)
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', [HEADER]: protocol }
    const request = https.request(cluster.server + path, { agent, method: 'POST', headers })
    request.end()
    const refused = once(request, 'response').then(([{ statusCode }]) => {
      throw new Error(`no upgrade, but status ${statusCode}`)
    })
    const [, socket] = (await Promise.race([once(request, 'upgrade'), refused])) as [object, Duplex]
    return { socket, close: async () => agent.destroy() }
  },
  'our dispatcher for undici 7': async (cluster, path, protocol) => {
    const dispatcher = createDispatcher(cluster, await import('undici')) as Dispatcher
    const options: Dispatcher.UpgradeOptions & { readonly origin: string } = {
      origin: new URL(cluster.server).origin,
      path,
      method: 'POST',
      protocol: 'SPDY/3.1',
      headers: { [HEADER]: protocol },
    }
    const { socket } = await dispatcher.upgrade(options)
    return { socket, close: () => dispatcher.destroy() }
  },
}
