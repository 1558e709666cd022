// The cost of attach(kc): twenty workers that send list requests, with and without it, alternating in one run.
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { attach } from 'kubecred/client-node'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

const LOOPS = 20
const ROUNDS = 8
const ROUND_MS = 1500
/** Time for the connections of the other client to close. */
const SETTLE_MS = 500

export const name = 'attach(kc) against plain @kubernetes/client-node, 12 s of load each'

export async function run() {
  const { kubeconfig, close } = await openScene()
  const rows = [...(await compare('1.4', '@kubernetes/client-node', kubeconfig))]
  const isNew = Number(process.versions.node.split('.')[0]) >= 22
  if (isNew) rows.push(...(await compare('2.x', 'client-node-2', kubeconfig)))
  else rows.push({ what: '2.x needs Node 22', value: 'not run' })
  close()
  return rows
}

async function compare(version, module, kubeconfig) {
  const { KubeConfig, CoreV1Api } = await import(module)
  const open = () => {
    const kc = new KubeConfig()
    kc.loadFromFile(kubeconfig)
    return kc
  }
  const attached = open()
  const attachment = attach(attached)
  const clients = {
    plain: { api: open().makeApiClient(CoreV1Api), rates: [], costs: [], descriptors: 0 },
    ours: { api: attached.makeApiClient(CoreV1Api), rates: [], costs: [], descriptors: 0 },
  }
  const { plain, ours } = clients
  for (const { api } of Object.values(clients)) await api.listNamespace()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const client of Object.values(clients)) {
      await pause(SETTLE_MS)
      await load(client)
    }
  }
  await attachment.close()
  // Computed per round, because other load on the machine slows down both alike.
  const perRound = (one, other) => one.map((value, round) => value / other[round])
  return [
    { what: `${version} plain, requests per second`, value: Math.round(median(plain.rates)) },
    { what: `${version} attached, requests per second`, value: Math.round(median(ours.rates)) },
    {
      what: `${version} attached / plain, requests`,
      value: ratio(median(perRound(ours.rates, plain.rates)), 1),
      target: '≥ 12',
    },
    { what: `${version} plain, processor µs per request`, value: Math.round(median(plain.costs)) },
    {
      what: `${version} attached, processor µs per request`,
      value: Math.round(median(ours.costs)),
    },
    {
      what: `${version} plain / attached, processor time`,
      value: ratio(median(perRound(plain.costs, ours.costs)), 1),
    },
    { what: `${version} plain, max open descriptors`, value: plain.descriptors },
    { what: `${version} attached, max open descriptors`, value: ours.descriptors },
    {
      what: `${version} attached / plain, descriptors`,
      value: ratio(ours.descriptors, Math.max(plain.descriptors, 1)),
    },
  ]
}

async function load(client) {
  const before = descriptors()
  const timer = setInterval(() => {
    client.descriptors = Math.max(client.descriptors, descriptors() - before)
  }, 50)
  let count = 0
  const usage = process.cpuUsage()
  const end = performance.now() + ROUND_MS
  await Promise.all(
    Array.from({ length: LOOPS }, async () => {
      while (performance.now() < end) {
        await client.api.listNamespace()
        count += 1
      }
    }),
  )
  clearInterval(timer)
  const { user, system } = process.cpuUsage(usage)
  client.rates.push((count / ROUND_MS) * 1000)
  client.costs.push((user + system) / count)
}

/** The open descriptors of this process; only Linux reports them. */
function descriptors() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
