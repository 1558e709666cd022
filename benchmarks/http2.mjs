// The cost of a warm request over HTTP/2 compared with the pool of HTTP/1.1 connections, alternating in one run.
// The server uses little CPU: this process is what limits both.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'kubecred'
import { compareClients, ratio } from './measure.mjs'

export const name = 'a warm request over HTTP/2'

export async function run() {
  const server = fork(new URL('serve-http2.mjs', import.meta.url), { execArgv: [] })
  const [{ url }] = await once(server, 'message')
  const to = { server: url, token: 'benchmark', insecureSkipTlsVerify: true, kubeconfig: [] }
  const clusters = [await connect(to), await connect({ ...to, transport: 'http2' })]
  const clients = clusters.map((cluster) => async () => {
    const response = await cluster.fetch('/x')
    await response.json()
    return response.status
  })
  const rows = []
  for (const workers of [1, 8, 64]) {
    const [pool, http2] = await compareClients({ ...clients }, { workers })
    const goal = workers === 1 ? {} : { target: '>= 0.7' }
    rows.push(
      { what: `pool, ${workers} concurrent, requests per second`, value: Math.round(pool.rate) },
      { what: `http2, ${workers} concurrent, requests per second`, value: Math.round(http2.rate) },
      { what: `http2 / pool, ${workers} concurrent`, value: ratio(http2.rate, pool.rate), ...goal },
      {
        what: `http2 / pool, ${workers} concurrent, CPU time`,
        value: ratio(pool.cost, http2.cost),
        ...goal,
      },
    )
  }
  await Promise.all(clusters.map((cluster) => cluster.close()))
  server.disconnect()
  return rows
}
