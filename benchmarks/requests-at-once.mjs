// How the cost of a request grows with the number of requests at once. Ours and undici's pool have 64 connections, so
// further requests wait; client-go uses HTTP/2, where all share one.
import { connect } from 'kubecred'
import { Pool } from 'undici'
import { buildClientGo } from './client-go/start.mjs'
import { fetchWith, requestWith } from './clients.mjs'
import { compareClients, ROUND_MS, ratio, rounded } from './measure.mjs'
import { HEADERS, openScene } from './scene.mjs'

export const name = 'requests at once'

const WORKERS = [1, 4, 16, 64, 256, 512]

export async function run() {
  const { url, ca, kubeconfig, close } = await openScene({ http2: true })
  const clientGo = buildClientGo()
  const cluster = await connect({ kubeconfig })
  const pool = new Pool(url, { connections: 64, connect: { ca } })
  const clients = {
    'cluster.fetch': fetchWith(cluster, '/x'),
    'undici.request': requestWith(pool, '/x', HEADERS),
    ...(clientGo && { 'client-go': clientGo.start(kubeconfig, '/x', 'any') }),
  }
  const rows = clientGo ? [] : [{ what: 'client-go: not run', value: 'Go is not installed' }]
  try {
    await compareClients(clients, { rounds: 1 })
    for (const workers of WORKERS) {
      const options = { workers, roundMs: ROUND_MS / 2, warmUpMs: ROUND_MS / 4 }
      rows.push(...rowsOf(workers, Object.keys(clients), await compareClients(clients, options)))
    }
  } finally {
    clientGo?.close()
    await Promise.all([cluster.close(), pool.close()])
    close()
  }
  return rows
}

function rowsOf(x, names, results) {
  const absolute = names.flatMap((series, index) => {
    const what = `${x} at once: ${series}`
    const { rate, cost } = results[index]
    return [
      {
        what,
        unit: 'requests/s',
        value: rounded(rate),
        plot: { chart: 'requests-at-once', series, x },
      },
      {
        what,
        unit: 'µs of CPU',
        value: rounded(cost),
        plot: { chart: 'cpu-at-once', series, x },
      },
    ]
  })
  const peer = names[1]
  return [
    ...absolute,
    { what: `${x} at once, requests`, peer, value: ratio(results[0].rate, results[1].rate) },
    { what: `${x} at once, CPU time`, peer, value: ratio(results[1].cost, results[0].cost) },
  ]
}
