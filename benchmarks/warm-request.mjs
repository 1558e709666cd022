// What a warm request costs: `cluster.fetch` against `undici.request` and `undici.fetch`, in one run, in turns.
import { connect } from 'kubecred'
import { Agent, Pool, fetch as undiciFetch } from 'undici'
import { openScene } from './scene.mjs'

const WORKERS = 8
const ROUND_MS = 1000
const ROUNDS = 9

export const name = 'a warm request'

export async function run() {
  const { url, kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const options = { connections: 64, connect: { rejectUnauthorized: false } }
  const pool = new Pool(url, options)
  const agent = new Agent(options)
  // What any client sends, ours included.
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
  const rates = Object.fromEntries(Object.keys(clients).map((client) => [client, []]))
  for (const request of Object.values(clients)) await load(request, 500)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [client, request] of Object.entries(clients)) {
      rates[client].push(await load(request, ROUND_MS))
    }
  }
  await Promise.all([cluster.close(), pool.close(), agent.close()])
  close()
  const [request, fetched, ours] = Object.values(rates).map(median)
  return [
    { what: 'undici.request, requests per second', value: Math.round(request) },
    { what: 'undici.fetch, requests per second', value: Math.round(fetched) },
    { what: 'cluster.fetch, requests per second', value: Math.round(ours) },
    { what: 'cluster.fetch / undici.request', value: ratio(ours, request), target: '≥ 0.85' },
    { what: 'cluster.fetch / undici.fetch', value: ratio(ours, fetched), target: '≥ 2' },
  ]
}

async function load(request, milliseconds) {
  const end = performance.now() + milliseconds
  let count = 0
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (performance.now() < end) {
        const status = await request()
        if (status !== 200) throw new Error(`unexpected status ${status}`)
        count += 1
      }
    }),
  )
  return (count / milliseconds) * 1000
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

function ratio(a, b) {
  return Math.round((a / b) * 100) / 100
}
