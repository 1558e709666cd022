// Requests per second of a command inside and outside of `kubecred run`, alternating in one run.
//
// The command is the same program, run-client.mjs, in a process of its own: 16 connections, TLS on both sides, one
// request at a time on each. Outside it has the server's address and token, inside those of the proxy. So inside there is
// one more process and one more TLS connection for each request.
//
// The target is for kube-apiserver, which needs a millisecond of a processor for a request. The other server answers at once
// with a fixed text, and so needs less than the proxy itself. With two processors, client, proxy and server then share
// them, and the figure says what the proxy costs, not what a user sees. It has no target.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isShort, median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'
import { hasCluster, NO_CLUSTER, startCluster } from './start-cluster.mjs'

export const name = 'a request inside kubecred run, 16 connections'

const ROUNDS = isShort ? 3 : 9
const program = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))
const client = fileURLToPath(new URL('run-client.mjs', import.meta.url))

export async function run() {
  const { url, kubeconfig, close } = await openScene()
  const fixed = await compare({ server: url, token: 'benchmark', kubeconfig, path: '/x' })
  close()
  const rows = describe('a server that answers at once', fixed)
  if (!hasCluster()) return [...rows, { what: 'kube-apiserver', value: `not run: ${NO_CLUSTER}` }]
  const { server, token, close: stop } = await startCluster()
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const config = writeConfig(folder, server, token)
  // Every user may read it.
  const path = '/apis/apps/v1'
  const real = await compare({ server, token, kubeconfig: config, path })
  rmSync(folder, { recursive: true })
  await stop()
  return [...rows, ...describe('kube-apiserver', real, '≥ 0.75')]
}

function describe(what, { inside, outside }, target) {
  return [
    { what: `${what}, direct`, value: Math.round(outside) },
    { what: `${what}, inside`, value: Math.round(inside) },
    { what: `${what}, inside / direct`, value: ratio(inside, outside), target },
  ]
}

async function compare({ server, token, kubeconfig, path }) {
  const env = { ...process.env, BENCH_PATH: path }
  const outside = await start([client], { ...env, KUBECRED_SERVER: server, KUBECRED_TOKEN: token })
  const args = ['run', '--kubeconfig', kubeconfig, '--', process.execPath, client]
  const inside = await start([program, ...args], env)
  const counts = { outside: [], inside: [] }
  for (const each of [outside, inside]) await each.count()
  for (let round = 0; round < ROUNDS; round += 1) {
    counts.outside.push(await outside.count())
    counts.inside.push(await inside.count())
  }
  await Promise.all([outside.end(), inside.end()])
  return { outside: median(counts.outside), inside: median(counts.inside) }
}

function writeConfig(folder, server, token) {
  const path = join(folder, 'config')
  const config = {
    clusters: [{ name: 'b', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'b', user: { token } }],
    contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
    'current-context': 'b',
  }
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

/** Starts the client, and resolves when it is ready. */
async function start(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    async count() {
      child.stdin.write('go\n')
      return Number((await lines.next()).value)
    },
    async end() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
