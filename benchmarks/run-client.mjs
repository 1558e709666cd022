// A command for `kubecred run`: 16 workers, each on a kept-alive TLS connection of its own. For each line `go` on its
// standard input it sends requests for one second, and prints how many there were.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'

const CONNECTIONS = 16
const ROUND_MS = 1000
const { KUBECRED_SERVER: server, KUBECRED_TOKEN: token, KUBECRED_CA: ca, BENCH_PATH } = process.env
const pool = new Pool(server, {
  connections: CONNECTIONS,
  connect: ca === undefined ? { rejectUnauthorized: false } : { ca: readFileSync(ca, 'utf8') },
})
const headers = { 'user-agent': 'benchmark/1.0.0', authorization: `Bearer ${token}` }

process.stdout.write('ready\n')
for await (const _ of createInterface({ input: process.stdin })) {
  const end = performance.now() + ROUND_MS
  let count = 0
  const work = async () => {
    while (performance.now() < end) {
      const { statusCode, body } = await pool.request({ method: 'GET', path: BENCH_PATH, headers })
      await body.arrayBuffer()
      if (statusCode !== 200) throw new Error(`unexpected status ${statusCode}`)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  process.stdout.write(`${count}\n`)
}
