// What the agents cost: `https.get` with each of them against Node's own agent and a fixed token, in one run, in turns.
import https from 'node:https'
import { connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { openScene } from './scene.mjs'

const WORKERS = 8
const ROUND_MS = 1000
const ROUNDS = 9

export const name = 'a warm request over an https.Agent'

export async function run() {
  const { url, kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const agents = {
    plain: new https.Agent({ keepAlive: true, rejectUnauthorized: false }),
    bridge: createAgent(cluster),
    direct: createAgent(cluster, { direct: true }),
  }
  const fixed = { 'user-agent': 'benchmark/1.0.0', authorization: 'Bearer benchmark' }
  const clients = {
    plain: () => get(url, agents.plain, fixed),
    bridge: () => get(url, agents.bridge, {}),
    direct: () => get(url, agents.direct, {}),
  }
  const rates = Object.fromEntries(Object.keys(clients).map((client) => [client, []]))
  for (const request of Object.values(clients)) await load(request, 500)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [client, request] of Object.entries(clients)) {
      rates[client].push(await load(request, ROUND_MS))
    }
  }
  await cluster.close()
  for (const agent of Object.values(agents)) agent.destroy()
  close()
  const [plain, bridge, direct] = Object.values(rates).map(median)
  return [
    { what: "Node's own agent, requests per second", value: Math.round(plain) },
    { what: 'createAgent, requests per second', value: Math.round(bridge) },
    { what: 'createAgent, direct, requests per second', value: Math.round(direct) },
    { what: "createAgent / Node's own", value: ratio(bridge, plain), target: '≥ 0.4' },
    { what: "createAgent, direct / Node's own", value: ratio(direct, plain), target: '≥ 0.7' },
  ]
}

function get(url, agent, headers) {
  return new Promise((resolve, reject) => {
    const request = https.get(`${url}/x`, { agent, headers }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('end', () => {
        JSON.parse(Buffer.concat(chunks).toString())
        resolve(response.statusCode)
      })
    })
    request.once('error', reject)
  })
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
