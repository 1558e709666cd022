// The cost of a warm request: `cluster.fetch` compared with undici and plain client-node, alternating in one run.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { Agent, Pool } from 'undici'
import { fetchWith, requestWith, undiciFetchWith } from './clients.mjs'
import { compareWithPeers } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

export const name = 'a warm request: a small list, 8 at once'

export async function run() {
  const { url, ca, kubeconfig, close } = await openScene()
  let events = 0
  const observer = () => {
    events += 1
  }
  const cluster = await connect({ kubeconfig, observer })
  const pool = new Pool(url, { connections: 64, connect: { ca } })
  const agent = new Agent({ connections: 64, connect: { ca } })
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  const api = kc.makeApiClient(CoreV1Api)
  const plain = await compareWithPeers(
    { name: 'cluster.fetch', client: fetchWith(cluster, '/x') },
    {
      'undici.request': requestWith(pool, '/x', HEADERS),
      'undici.fetch': undiciFetchWith(`${url}/x`, agent, HEADERS),
      'client-node': async () => {
        await api.listNamespace()
        return 200
      },
    },
    {
      targets: {
        'undici.request': { rate: '≥ 1', cost: '≥ 1' },
        'undici.fetch': { rate: '≥ 4' },
      },
    },
  )
  const signalled = await compareWithPeers(
    { name: 'cluster.fetch', client: fetchWith(cluster, '/x', { signal: true }) },
    { 'undici.request': requestWith(pool, '/x', HEADERS, { signal: true }) },
    { prefix: 'with a signal: ' },
  )
  await Promise.all([cluster.close(), pool.close(), agent.close()])
  close()
  if (events === 0) throw new Error('the observer was not called')
  return [...plain, ...signalled]
}
