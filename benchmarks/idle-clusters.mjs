// The memory of an idle cluster: a thousand in one process, without a socket and with one each.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'kubecred'

const COUNT = 1000

export const name = `${COUNT} idle clusters in one process`

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const server = fork(new URL('serve.mjs', import.meta.url), { execArgv: [] })
  const [{ url }] = await once(server, 'message')
  const first = await open(folder, url, 'warm-up')
  await (await first.fetch('/x')).json()

  const before = memory()
  const clusters = []
  for (let index = 0; index < COUNT; index += 1) clusters.push(await open(folder, url, `c${index}`))
  const without = (memory() - before) / COUNT
  for (const cluster of clusters) await (await cluster.fetch('/x')).json()
  const withSocket = (memory() - before) / COUNT

  await Promise.all([first, ...clusters].map((cluster) => cluster.close()))
  server.disconnect()
  rmSync(folder, { recursive: true })
  return [
    { what: 'KiB per cluster, no socket', value: kib(without), target: '≤ 16' },
    { what: 'KiB per cluster, with one socket', value: kib(withSocket), target: '≤ 90' },
  ]
}

/** Opens clusters with different users, so that nothing is shared. */
async function open(folder, url, name) {
  const kubeconfig = join(folder, name)
  const cluster = { server: url, 'insecure-skip-tls-verify': true }
  const context = { cluster: name, user: name }
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name, cluster }],
      users: [{ name, user: { token: 'benchmark' } }],
      contexts: [{ name, context }],
      'current-context': name,
    }),
  )
  return connect({ kubeconfig })
}

/** The memory of the whole process, because TLS allocates outside the heap. */
function memory() {
  for (let count = 0; count < 3; count += 1) globalThis.gc()
  return process.memoryUsage().rss
}

function kib(bytes) {
  return Math.round((bytes / 1024) * 10) / 10
}
