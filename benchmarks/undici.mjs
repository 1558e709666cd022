// The cost of `createDispatcher` compared with a pool of the same undici, alternating in one run.
import { connect } from 'kubecred'
import { createDispatcher } from 'kubecred/undici'
import * as undici from 'undici'
import { fetchWith, requestWith } from './clients.mjs'
import { compareWithPeers } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

export const name = "a warm request of the user's undici: 8 at once"

export async function run() {
  const { url, ca, kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const dispatcher = createDispatcher(cluster, undici, { connections: 64 })
  const pool = new undici.Pool(url, { connections: 64, connect: { ca } })
  const rows = await compareWithPeers(
    { name: 'createDispatcher', client: requestWith(dispatcher, '/x', {}) },
    {
      'undici.request': requestWith(pool, '/x', HEADERS),
      'cluster.fetch': fetchWith(cluster, '/x'),
    },
  )
  await Promise.all([dispatcher.close(), pool.close()])
  await cluster.close()
  close()
  return rows
}
