// A list of 500 pods, 2 MB of JSON that the server compresses: most of the time is spent in zlib and JSON.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { Agent, Pool } from 'undici'
import { buildClientGo } from './client-go/start.mjs'
import { fetchWith, requestWith, undiciFetchWith } from './clients.mjs'
import { compareWithPeers } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

export const name = 'a list of 500 pods: 2 MB, compressed, 4 at once'

const PATH = '/api/v1/pods'
const WORKERS = 4

export async function run() {
  const { url, ca, kubeconfig, close } = await openScene()
  const clientGo = buildClientGo()
  const cluster = await connect({ kubeconfig })
  const pool = new Pool(url, { connections: 64, connect: { ca } })
  const agent = new Agent({ connections: 64, connect: { ca } })
  const attached = open(kubeconfig)
  const attachment = attach(attached)
  try {
    const raw = await compareWithPeers(
      { name: 'cluster.fetch', client: fetchWith(cluster, PATH) },
      {
        'undici.request': requestWith(pool, PATH, HEADERS),
        'undici.fetch': undiciFetchWith(`${url}${PATH}`, agent, HEADERS),
        ...(clientGo && { 'client-go': clientGo.start(kubeconfig, PATH, 'any') }),
      },
      { workers: WORKERS },
    )
    // client-node makes an object of a class of each pod and its parts.
    const typed = await compareWithPeers(
      { name: 'attach(kc)', client: listWith(attached) },
      { 'client-node': listWith(open(kubeconfig)) },
      { workers: WORKERS },
    )
    const missing = clientGo ? [] : [{ what: 'client-go: not run', value: 'Go is not installed' }]
    return [...raw, ...missing, ...typed]
  } finally {
    clientGo?.close()
    await Promise.all([attachment.close(), cluster.close(), pool.close(), agent.close()])
    close()
  }
}

function open(kubeconfig) {
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  return kc
}

function listWith(kc) {
  const api = kc.makeApiClient(CoreV1Api)
  return async () => {
    const { items } = await api.listPodForAllNamespaces()
    if (items.length !== 500) throw new Error(`${items.length} pods`)
    return 200
  }
}
