import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { createDispatcher } from 'kubecred/undici'
import { Vault } from 'kubecred/vault'
import * as undici from 'undici'
import { expect, it, vi } from 'vitest'
import { LINE } from '../../src/request/line.ts'
import { request } from '../adapters/https/request.ts'
import { NAMESPACES } from '../transports/driver.ts'
import { until } from '../transports/until.ts'

/** Clients that send a request and return its status. */
const CLIENTS: Readonly<Record<string, (cluster: Cluster) => Promise<number>>> = {
  'cluster.fetch': async (cluster) => (await cluster.fetch(NAMESPACES)).status,
  'an agent': async (cluster) => {
    const answer = await request(cluster.server, createAgent(cluster), { path: NAMESPACES })
    answer.resume()
    return answer.statusCode ?? 0
  },
  'a dispatcher': async (cluster) => {
    const dispatcher = createDispatcher(cluster, undici)
    const origin = new URL(cluster.server).origin
    const answer = await dispatcher.request({ origin, path: NAMESPACES, method: 'GET' })
    await answer.body.dump()
    return answer.statusCode
  },
}

it.each(Object.entries(CLIENTS))(
  'with %s, all tries of a request share one deadline for logins',
  async (_, send) => {
    await using sandbox = await startSandbox()
    await using cluster = await connect({ vault: vaultFor(sandbox) })
    await until(() => cluster.status().credential.runs === 3)
    const { access } = cluster[LINE]
    const lease = vi.spyOn(access, 'lease')
    const replace = vi.spyOn(access, 'replace')
    const patiences = (): unknown[] => [
      ...lease.mock.calls.map(([, options]) => options?.deadline),
      ...replace.mock.calls.map(([, , , options]) => options?.deadline),
    ]
    expect(await send(cluster)).toBe(200)
    expect(replace).toHaveBeenCalledTimes(2)
    const [first] = patiences()
    expect(first).toEqual({})
    for (const each of patiences()) expect(each).toBe(first)
    lease.mockClear()
    replace.mockClear()
    expect(await send(cluster)).toBe(200)
    expect(patiences()[0]).not.toBe(first)
  },
)

/** Two logins that are refused, and then a good one. */
function vaultFor(sandbox: Sandbox): Vault {
  const info = { server: sandbox.url, caData: sandbox.caPem }
  return new Vault()
    .onLogin(() => ({ ...info, token: 'bad', priority: 2 }), { id: 'bad' })
    .onLogin(() => ({ ...info, token: 'worse', priority: 1 }), { id: 'worse' })
    .onLogin(() => ({ ...info, token: sandbox.issueToken({ user: 'jane' }).token }), { id: 'good' })
}
