// A server that is 20 ms away: what a first request, later requests and a list of 500 pods cost when the network, not the
// CPU, decides.
import { connect } from 'kubecred'
import { Pool } from 'undici'
import { buildClientGo } from './client-go/start.mjs'
import { fetchWith, requestWith } from './clients.mjs'
import { compareClients, median, ROUND_MS, ROUNDS, ratio, rounded } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

const ROUND_TRIP_MS = 20

export const name = `a round trip of ${ROUND_TRIP_MS} ms`

export async function run() {
  const scene = await openScene({ http2: true, roundTripMs: ROUND_TRIP_MS })
  const clientGo = buildClientGo()
  try {
    return [
      { what: 'the distance', value: `made with ${scene.way}` },
      ...(clientGo ? [] : [{ what: 'client-go: not run', value: 'Go is not installed' }]),
      ...(await measureFirst(scene)),
      ...(await measureLater(scene, clientGo, '/x', 8)),
      ...(await measureLater(scene, clientGo, '/x', 64)),
      ...(await measureLater(scene, clientGo, '/api/v1/pods', 4)),
    ]
  } finally {
    clientGo?.close()
    scene.close()
  }
}

/** The first request of a new client, in round trips: TCP, TLS 1.3 and the request need three. */
async function measureFirst(scene) {
  const times = { 'cluster.fetch': [], 'cluster.fetch HTTP/2': [], 'undici.request': [] }
  const timeOf = async (request) => {
    const begin = performance.now()
    await request()
    return (performance.now() - begin) / ROUND_TRIP_MS
  }
  // The first round loads the code.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const client of Object.keys(times)) {
      const { request, close } = await open(client, scene, '/x')
      const took = await timeOf(request)
      if (round > 0) times[client].push(took)
      await close()
    }
  }
  const trips = Object.fromEntries(
    Object.entries(times).map(([client, each]) => [client, median(each)]),
  )
  const compare = (client, peer) => ({
    what: `first request: ${client}`,
    peer,
    value: ratio(trips[peer], trips[client]),
  })
  return [
    ...Object.entries(trips).map(([client, value]) => ({
      what: `first request: ${client}`,
      unit: 'round trips',
      value: Math.round(value * 100) / 100,
    })),
    compare('cluster.fetch', 'undici.request'),
    compare('cluster.fetch HTTP/2', 'undici.request'),
  ]
}

async function measureLater(scene, clientGo, path, workers) {
  const names = ['cluster.fetch', 'cluster.fetch HTTP/2', 'undici.request']
  const own = await Promise.all(names.map((client) => open(client, scene, path)))
  const clients = Object.fromEntries(names.map((client, index) => [client, own[index].request]))
  if (clientGo) {
    clients['client-go HTTP/1.1'] = clientGo.start(scene.kubeconfig, path, 'http1')
    clients['client-go HTTP/2'] = clientGo.start(scene.kubeconfig, path, 'any')
  }
  // A short round would mostly show its own end: a worker's last request takes longer than the round.
  const options = { workers, rounds: Math.ceil(ROUNDS / 3), roundMs: 2 * ROUND_MS }
  const results = await compareClients(clients, options)
  for (const { close } of own) await close()
  const prefix = `${path === '/x' ? 'small list' : '500 pods'} × ${workers}:`
  const rates = Object.fromEntries(
    Object.keys(clients).map((client, index) => [client, results[index].rate]),
  )
  const compare = (client, peer) => ({
    what: `${prefix} ${client}`,
    peer,
    value: ratio(rates[client], rates[peer]),
  })
  return [
    ...Object.entries(rates).map(([client, rate]) => ({
      what: `${prefix} ${client}`,
      unit: 'requests/s',
      value: rounded(rate),
    })),
    compare('cluster.fetch', 'undici.request'),
    compare('cluster.fetch HTTP/2', 'cluster.fetch'),
    ...(clientGo
      ? [
          compare('cluster.fetch', 'client-go HTTP/1.1'),
          compare('cluster.fetch', 'client-go HTTP/2'),
          compare('cluster.fetch HTTP/2', 'client-go HTTP/2'),
        ]
      : []),
  ]
}

/** Opens a new client with connections of its own. */
async function open(client, { url, ca, kubeconfig }, path) {
  if (client === 'undici.request') {
    const pool = new Pool(url, { connections: 64, connect: { ca } })
    return { request: requestWith(pool, path, HEADERS), close: () => pool.close() }
  }
  const transport = client.endsWith('HTTP/2') ? 'http2' : 'pool'
  const cluster = await connect({ kubeconfig, transport })
  return { request: fetchWith(cluster, path), close: () => cluster.close() }
}
