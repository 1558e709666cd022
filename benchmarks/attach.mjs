// The cost of attach(kc): twenty workers that send list requests, with and without it, alternating in one run.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { attach } from 'kubecred/client-node'
import { findNewerNode } from '../tools/newer-node.mjs'
import { isShort, median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

const LOOPS = 20
const ROUNDS = isShort ? 3 : 8
const ROUND_MS = isShort ? 1000 : 1500
/** Time for the connections of the other client to close. */
const SETTLE_MS = 500

export const name = 'attach(kc) against plain @kubernetes/client-node, 20 at once'

export async function run() {
  const { kubeconfig, close } = await openScene()
  const rows = [...(await compare('1.4', '@kubernetes/client-node', kubeconfig))]
  rows.push(...(await compareNew(kubeconfig)))
  close()
  return rows
}

/** Compares with 2.x, which needs a newer Node than the oldest that we support. */
async function compareNew(kubeconfig) {
  const { path, problem } = findNewerNode({ mayInstall: false })
  if (path === undefined) return [{ what: '2.x', value: `not run: ${problem}` }]
  const program = `
    const { compare } = await import(${JSON.stringify(import.meta.url)})
    const rows = await compare('2.x', 'client-node-2', ${JSON.stringify(kubeconfig)})
    process.stdout.write(JSON.stringify(rows), () => process.exit())
  `
  const child = spawn(path, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return json(child.stdout)
}

export async function compare(version, module, kubeconfig) {
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
