// The cost of a warm request over HTTP/2 compared with the pool of HTTP/1.1 connections, alternating in one run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'kubecred'
import { median } from './measure.mjs'

const ROUND_MS = 1000
const ROUNDS = 7

export const name = 'a warm request over HTTP/2'

export async function run() {
  const server = fork(new URL('serve-http2.mjs', import.meta.url))
  const [{ url }] = await once(server, 'message')
  const to = { server: url, token: 'benchmark', insecureSkipTlsVerify: true, kubeconfig: [] }
  const transports = {
    pool: await connect(to),
    http2: await connect({ ...to, transport: 'http2' }),
  }
  const rows = []
  for (const workers of [1, 8, 64]) {
    const rates = { pool: [], http2: [] }
    for (const cluster of Object.values(transports)) await load(cluster, workers, 500)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [transport, cluster] of Object.entries(transports)) {
        rates[transport].push(await load(cluster, workers, ROUND_MS))
      }
    }
    const [pool, http2] = Object.values(rates).map(median)
    rows.push(
      { what: `pool, ${workers} concurrent, requests per second`, value: Math.round(pool) },
      { what: `http2, ${workers} concurrent, requests per second`, value: Math.round(http2) },
      {
        what: `http2 / pool, ${workers} concurrent`,
        value: Math.round((http2 / pool) * 100) / 100,
      },
    )
  }
  await Promise.all(Object.values(transports).map((cluster) => cluster.close()))
  server.disconnect()
  return rows
}

async function load(cluster, workers, milliseconds) {
  const end = performance.now() + milliseconds
  let count = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < end) {
        const response = await cluster.fetch('/x')
        await response.json()
        if (response.status !== 200) throw new Error(`unexpected status ${response.status}`)
        count += 1
      }
    }),
  )
  return (count / milliseconds) * 1000
}
