// The cost of a warm request: `cluster.fetch` compared with `undici.request` and `undici.fetch`, alternating in one run.
import { connect } from 'kubecred'
import { Agent, Pool, fetch as undiciFetch } from 'undici'
import { compareClients, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'a warm request'

export async function run() {
  const { url, kubeconfig, close } = await openScene()
  let events = 0
  const observer = () => {
    events += 1
  }
  const cluster = await connect({ kubeconfig, observer })
  const options = { connections: 64, connect: { rejectUnauthorized: false } }
  const pool = new Pool(url, options)
  const agent = new Agent(options)
  // The headers that every client sends, including ours.
  const headers = {
    'user-agent': 'benchmark/1.0.0',
    'accept-encoding': 'gzip',
    authorization: 'Bearer benchmark',
  }
  const clients = {
    'undici.request': async () => {
      const { statusCode, body } = await pool.request({ path: '/x', method: 'GET', headers })
      await body.json()
      return statusCode
    },
    'undici.fetch': async () => {
      const response = await undiciFetch(`${url}/x`, { headers, dispatcher: agent })
      await response.json()
      return response.status
    },
    'cluster.fetch': async () => {
      const response = await cluster.fetch('/x')
      await response.json()
      return response.status
    },
  }
  const [request, fetched, ours] = await compareClients(clients)
  await Promise.all([cluster.close(), pool.close(), agent.close()])
  close()
  if (events === 0) throw new Error('the observer was not called')
  return [
    { what: 'undici.request, requests per second', value: Math.round(request.rate) },
    { what: 'undici.fetch, requests per second', value: Math.round(fetched.rate) },
    { what: 'cluster.fetch, requests per second', value: Math.round(ours.rate) },
    {
      what: 'cluster.fetch / undici.request, requests',
      value: ratio(ours.rate, request.rate),
      target: '≥ 1',
    },
    {
      what: 'undici.request / cluster.fetch, CPU time',
      value: ratio(request.cost, ours.cost),
      target: '≥ 1',
    },
    {
      what: 'cluster.fetch / undici.fetch, requests',
      value: ratio(ours.rate, fetched.rate),
      target: '≥ 4',
    },
  ]
}
