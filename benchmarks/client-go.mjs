// A warm request compared with client-go, alternating in one run: held to HTTP/1.1, which ours uses too, and as it comes,
// which is HTTP/2. All read the body as JSON, and ours has an observer. client-go's requests can be cancelled; ours are
// measured with a signal each and without.
import { connect } from 'kubecred'
import { buildClientGo } from './client-go/start.mjs'
import { fetchWith } from './clients.mjs'
import { compareWithPeers } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'a warm request, compared with client-go: 8 at once'

export async function run() {
  const clientGo = buildClientGo()
  if (clientGo === undefined) return [{ what: 'not run', value: 'Go is not installed' }]
  const { kubeconfig, close } = await openScene({ http2: true })
  const cluster = await connect({ kubeconfig, observer() {} })
  try {
    const peers = {
      'client-go HTTP/1.1': clientGo.start(kubeconfig, '/x', 'http1'),
      'client-go HTTP/2': clientGo.start(kubeconfig, '/x', 'any'),
    }
    const targets = { 'client-go HTTP/1.1': { rate: '≥ 0.85', cost: '≥ 0.85' } }
    const compare = (signal, prefix) => {
      const client = fetchWith(cluster, '/x', { signal })
      return compareWithPeers({ name: 'cluster.fetch', client }, peers, { targets, prefix })
    }
    return [...(await compare(false, '')), ...(await compare(true, 'with a signal: '))]
  } finally {
    clientGo.close()
    await cluster.close()
    close()
  }
}
