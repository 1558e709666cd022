// 10,000 concurrent requests on a cold start: how often the plugin runs, and the cost compared with a warm start.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'kubecred'

const COUNT = 10_000
const PLUGIN_S = 1

export const name = `${COUNT} concurrent requests, cold, with a plugin that takes ${PLUGIN_S} s`

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const server = fork(new URL('serve.mjs', import.meta.url), { execArgv: [] })
  const [{ url }] = await once(server, 'message')
  const kubeconfig = writeConfig(folder, url)
  // Another cluster warms up the code (not the sockets), so that only the cluster under test is cold.
  const other = await connect({ kubeconfig, token: 'benchmark' })
  await storm(other)
  await other.close()
  const cluster = await connect({ kubeconfig })
  const cold = await storm(cluster)
  const warm = await storm(cluster)
  await cluster.close()
  server.disconnect()
  const runs = readFileSync(join(folder, 'runs'), 'utf8').length
  rmSync(folder, { recursive: true })
  const allowed = PLUGIN_S * 1000 + 1.5 * warm.tookMs
  return [
    { what: 'plugin runs', value: runs, target: '1' },
    { what: 'failed requests', value: cold.failed + warm.failed, target: '0' },
    { what: 'cold, ms', value: Math.round(cold.tookMs) },
    { what: 'warm, ms', value: Math.round(warm.tookMs) },
    {
      what: 'cold / (plugin time + 1.5 × warm)',
      value: Math.round((cold.tookMs / allowed) * 100) / 100,
      target: '≤ 0.9',
    },
  ]
}

async function storm(cluster) {
  const startedAt = performance.now()
  let failed = 0
  const one = async () => {
    const response = await cluster.fetch('/x')
    await response.arrayBuffer()
    if (response.status !== 200) failed += 1
  }
  await Promise.all(Array.from({ length: COUNT }, () => one().catch(() => (failed += 1))))
  return { tookMs: performance.now() - startedAt, failed }
}

function writeConfig(folder, url) {
  const plugin = join(folder, 'plugin')
  const answer = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'benchmark' },
  })
  const runs = join(folder, 'runs')
  appendFileSync(runs, '')
  writeFileSync(
    plugin,
    `#!/bin/sh\nprintf x >> '${runs}'\nsleep ${PLUGIN_S}\nprintf '%s' '${answer}'\n`,
  )
  chmodSync(plugin, 0o700)
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: plugin,
    interactiveMode: 'Never',
  }
  const kubeconfig = join(folder, 'config')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'b', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'b', user: { exec } }],
      contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
      'current-context': 'b',
    }),
  )
  return kubeconfig
}
