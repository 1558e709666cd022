// The cost of `createDispatcher` compared with a pool of the same undici, alternating in one run.
import { connect } from 'kubecred'
import { createDispatcher } from 'kubecred/undici'
import * as undici from 'undici'
import { compareClients, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = "a warm request of the user's undici"

export async function run() {
  const { url, kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const dispatcher = createDispatcher(cluster, undici, { connections: 64 })
  const pool = new undici.Pool(url, { connections: 64, connect: { rejectUnauthorized: false } })
  const headers = { 'user-agent': 'benchmark/1.0.0', authorization: 'Bearer benchmark' }
  const requestOver = (one, options) => async () => {
    const { statusCode, body } = await one.request({ path: '/x', method: 'GET', ...options })
    await body.json()
    return statusCode
  }
  const [plain, ours, fetched] = await compareClients({
    'undici.request': requestOver(pool, { headers }),
    'createDispatcher(cluster).request': requestOver(dispatcher, {}),
    'cluster.fetch': async () => {
      const response = await cluster.fetch('/x')
      await response.json()
      return response.status
    },
  })
  await Promise.all([dispatcher.close(), pool.close()])
  await cluster.close()
  close()
  return [
    { what: 'undici.request, requests per second', value: Math.round(plain.rate) },
    { what: 'createDispatcher, requests per second', value: Math.round(ours.rate) },
    { what: 'createDispatcher / undici.request, requests', value: ratio(ours.rate, plain.rate) },
    { what: 'the same in CPU time', value: ratio(plain.cost, ours.cost) },
    { what: 'createDispatcher / cluster.fetch, requests', value: ratio(ours.rate, fetched.rate) },
  ]
}
