// Events of a watch, 4 KB each: the CPU time of a client at rates that the server sets, and how many it can read if the
// server sends as many as it takes. Every client parses each event as JSON.
import { KubeConfig, Watch } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { Pool } from 'undici'
import { median, ROUND_MS, ROUNDS, ratio, rounded } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

export const name = 'events of a watch'

const PATH = '/api/v1/pods'
const RATES = [100, 1000, 10_000]
const AS_MANY = 0

export async function run() {
  const { url, ca, kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const pool = new Pool(url, { connect: { ca } })
  const attached = open(kubeconfig)
  const attachment = attach(attached)
  const clients = {
    'cluster.fetch': async (rate, onEvent, signal) => {
      const { body } = await cluster.fetch(`${PATH}?watch=true&rate=${rate}`, { signal })
      return readLines(body, onEvent)
    },
    'undici.request': async (rate, onEvent, signal) => {
      const path = `${PATH}?watch=true&rate=${rate}`
      const { body } = await pool.request({ path, method: 'GET', headers: HEADERS, signal })
      return readLines(body, onEvent)
    },
    'attach(kc)': watchWith(attached),
    'client-node': watchWith(open(kubeconfig)),
  }
  const rows = []
  try {
    for (const rate of RATES) rows.push(...(await measureAt(rate, clients)))
    rows.push(...(await measureMost(clients)))
  } finally {
    await Promise.all([attachment.close(), cluster.close(), pool.destroy()])
    close()
  }
  return rows
}

/** At a rate of the server: the share of a core that the client needs. */
async function measureAt(rate, clients) {
  const results = await inTurns(rate, clients)
  return Object.entries(results).map(([series, { cost, count }]) => ({
    what: `${rate.toLocaleString('en')} events/s: ${series}`,
    unit: '% of a core',
    // A client that falls behind would look cheap.
    value: count < rate * 0.8 ? 'too slow' : Math.round(((cost * rate) / 1e6) * 1000) / 10,
    plot: { chart: 'watch-events', series, x: rate },
  }))
}

async function measureMost(clients) {
  const results = await inTurns(AS_MANY, clients)
  const compare = (ours, peer) => [
    { what: `${ours}, events`, peer, value: ratio(results[ours].count, results[peer].count) },
    { what: `${ours}, CPU time`, peer, value: ratio(results[peer].cost, results[ours].cost) },
  ]
  return [
    ...Object.entries(results).map(([client, { count }]) => ({
      what: `as many as possible: ${client}`,
      unit: 'events/s',
      value: rounded(count),
    })),
    ...compare('cluster.fetch', 'undici.request'),
    ...compare('cluster.fetch', 'client-node'),
    ...compare('attach(kc)', 'client-node'),
  ]
}

/** Returns the events per second of each client and its CPU time for each, in microseconds. */
async function inTurns(rate, clients) {
  const rounds = Object.fromEntries(Object.keys(clients).map((client) => [client, []]))
  for (let round = 0; round < Math.ceil(ROUNDS / 3); round += 1) {
    for (const [client, watch] of Object.entries(clients)) {
      rounds[client].push(await measureWatch(watch, rate))
    }
  }
  return Object.fromEntries(
    Object.entries(rounds).map(([client, each]) => [
      client,
      {
        count: median(each.map(({ count }) => count)),
        cost: median(each.map(({ cost }) => cost)),
      },
    ]),
  )
}

/** Opens a watch, leaves it half a round to begin, and counts events for two rounds. */
async function measureWatch(watch, rate) {
  const controller = new AbortController()
  let count = 0
  let start
  const ended = watch(rate, countEvent, controller.signal).catch((error) => {
    if (!controller.signal.aborted) throw error
  })
  const result = await new Promise((resolve, reject) => {
    ended.then(() => reject(new Error('the watch has ended')), reject)
    setTimeout(() => {
      start = { count, at: performance.now(), cpu: process.cpuUsage() }
    }, ROUND_MS / 2)
    setTimeout(() => {
      const { user, system } = process.cpuUsage(start.cpu)
      const seconds = (performance.now() - start.at) / 1000
      const events = count - start.count
      resolve({ count: events / seconds, cost: (user + system) / events })
    }, 2.5 * ROUND_MS)
  })
  controller.abort()
  await ended
  return result

  function countEvent({ type }) {
    if (type !== 'MODIFIED') throw new Error(`an event of the type ${type}`)
    count += 1
  }
}

/** Parses each line of a body, as a program that reads a watch does. */
async function readLines(body, onEvent) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()
    for (const line of lines) onEvent(JSON.parse(line))
  }
}

function watchWith(kc) {
  return async (rate, onEvent, signal) => {
    const onLine = (_type, _object, event) => onEvent(event)
    await new Promise((resolve, reject) => {
      new Watch(kc).watch(PATH, { rate }, onLine, resolve).then((controller) => {
        signal.addEventListener('abort', () => controller.abort(), { once: true })
      }, reject)
    })
  }
}

function open(kubeconfig) {
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  return kc
}
