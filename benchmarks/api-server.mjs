// kube-apiserver itself, with etcd, on this machine: a client certificate, and the server's certificate checked. It needs
// as much CPU as its clients, so requests per second show less of the difference than CPU time does.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { Agent, Pool } from 'undici'
import { buildClientGo } from './client-go/start.mjs'
import { fetchWith, requestWith, undiciFetchWith } from './clients.mjs'
import { compareWithPeers } from './measure.mjs'
import { makePod } from './pods.mjs'
import { hasCluster, NO_CLUSTER, startCluster } from './start-cluster.mjs'

export const name = 'kube-apiserver'

const PODS = 500
const SMALL = '/api/v1/namespaces'
const LARGE = '/api/v1/namespaces/default/pods'
const WITHOUT_TOKEN = { 'user-agent': 'benchmark/1.0.0', 'accept-encoding': 'gzip' }

export async function run() {
  if (!hasCluster()) return [{ what: 'not run', value: NO_CLUSTER }]
  const clientGo = buildClientGo()
  const { kubeconfig, close } = await startCluster()
  const cluster = await connect({ kubeconfig })
  const attached = open(kubeconfig)
  const attachment = attach(attached)
  try {
    await createPods(cluster)
    const small = await compareHere(SMALL, { kubeconfig, cluster, clientGo, workers: 8 })
    const large = await compareHere(LARGE, { kubeconfig, cluster, clientGo, workers: 4 })
    const typed = await compareWithPeers(
      { name: 'attach(kc)', client: listWith(attached) },
      { 'client-node': listWith(open(kubeconfig)) },
      { prefix: 'namespaces: ' },
    )
    return [...small, ...large, ...typed]
  } finally {
    clientGo?.close()
    await attachment.close()
    await cluster.close()
    await close()
  }
}

async function compareHere(path, { kubeconfig, cluster, clientGo, workers }) {
  const { server, tls } = identityOf(kubeconfig)
  const pool = new Pool(server, { connections: 64, connect: tls })
  const agent = new Agent({ connections: 64, connect: tls })
  const rows = await compareWithPeers(
    { name: 'cluster.fetch', client: fetchWith(cluster, path) },
    {
      'undici.request': requestWith(pool, path, WITHOUT_TOKEN),
      'undici.fetch': undiciFetchWith(`${server}${path}`, agent, WITHOUT_TOKEN),
      ...(clientGo && {
        'client-go HTTP/1.1': clientGo.start(kubeconfig, path, 'http1'),
        'client-go HTTP/2': clientGo.start(kubeconfig, path, 'any'),
      }),
    },
    { workers, prefix: path === SMALL ? 'namespaces: ' : `${PODS} pods: ` },
  )
  await Promise.all([pool.close(), agent.close()])
  return rows
}

async function createPods(cluster) {
  for (let number = 0; number < PODS; number += 1) {
    const { metadata, spec } = makePod(number)
    const { name, labels, annotations } = metadata
    const response = await cluster.fetch(LARGE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name, labels, annotations }, spec }),
    })
    const text = await response.text()
    if (response.status !== 201) throw new Error(`pod ${number}: ${response.status} ${text}`)
  }
}

/** What undici needs of the kubeconfig. */
function identityOf(kubeconfig) {
  const kc = open(kubeconfig)
  const { server, caData } = kc.getCurrentCluster()
  const { certData, keyData } = kc.getCurrentUser()
  const [ca, cert, key] = [caData, certData, keyData].map((data) => Buffer.from(data, 'base64'))
  return { server, tls: { ca, cert, key } }
}

function listWith(kc) {
  const api = kc.makeApiClient(CoreV1Api)
  return async () => {
    await api.listNamespace()
    return 200
  }
}

function open(kubeconfig) {
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  return kc
}
