// The cost of the agents: `https.get` with each, compared with Node's own agent and a fixed token, alternating in one run.
import https from 'node:https'
import { connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { compareClients, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

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
  const [plain, bridge, direct] = await compareClients(clients)
  await cluster.close()
  for (const agent of Object.values(agents)) agent.destroy()
  close()
  return [
    { what: "Node's own agent, requests per second", value: Math.round(plain.rate) },
    { what: 'createAgent, requests per second', value: Math.round(bridge.rate) },
    { what: 'createAgent, direct, requests per second', value: Math.round(direct.rate) },
    { what: "createAgent / Node's own", value: ratio(bridge.rate, plain.rate), target: '≥ 0.6' },
    { what: 'the same, processor time', value: ratio(plain.cost, bridge.cost), target: '≥ 0.6' },
    { what: "direct / Node's own", value: ratio(direct.rate, plain.rate), target: '≥ 0.7' },
    { what: 'the same, processor time', value: ratio(plain.cost, direct.cost) },
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
