// Ten minutes of load through `kubecred proxy` while its tokens rotate: does memory stay flat, and are all descriptors
// released? Not part of `npm run bench`: node benchmarks/run.mjs proxy-soak (KUBECRED_SOAK_SECONDS=60 for a short run).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'
import { Pool } from 'undici'
import { ratio } from './measure.mjs'

export const name = 'a long load through the proxy, while tokens rotate'

const SECONDS = Number(process.env.KUBECRED_SOAK_SECONDS ?? 600)
const WORKERS = 16
const WATCHES = 8
const LIFE_MS = 5000
const MAX_IDLE_MS = 100_000
const program = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))

export async function run() {
  const sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: LIFE_MS })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const args = [program, 'proxy', '-o', 'json', '--port=0', '--kubeconfig', kubeconfig]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { url, headerFile } = JSON.parse(line)
  const headers = { authorization: readFileSync(headerFile, 'utf8').split(': ')[1].trim() }
  const pool = new Pool(url, { connections: WORKERS + WATCHES, bodyTimeout: 0 })
  const before = descriptorsOf(child.pid)
  const count = { good: 0, failed: 0 }
  const memory = []
  const end = Date.now() + SECONDS * 1000
  const watches = new AbortController()
  for (let nth = 0; nth < WATCHES; nth += 1) void watch(pool, headers, watches.signal)
  await Promise.all([
    ...Array.from({ length: WORKERS }, () => work(pool, headers, end, count)),
    sample(child.pid, end, memory),
  ])
  watches.abort()
  await pool.destroy()
  // Idle connections to the server are closed after a minute; then the number of descriptors must be as before.
  const waitUntil = Date.now() + MAX_IDLE_MS
  while (descriptorsOf(child.pid) > before && Date.now() < waitUntil) await sleep(1000)
  const after = descriptorsOf(child.pid)
  child.kill('SIGTERM')
  const [status] = await once(child, 'exit')
  const { pluginRuns } = sandbox
  await sandbox.close()
  const third = Math.floor(memory.length / 3)
  const early = Math.max(...memory.slice(third, 2 * third))
  const late = Math.max(...memory.slice(2 * third))
  return [
    { what: `requests in ${SECONDS} s`, value: count.good },
    { what: 'failed', value: count.failed, target: '0' },
    { what: 'plugin runs', value: pluginRuns },
    {
      what: 'resident memory, last third / second third',
      value: ratio(late, early),
      target: '≤ 1.1',
    },
    { what: 'resident memory at the end, MiB', value: Math.round(late / 1024) },
    {
      what: 'descriptors after / before',
      value: `${after} / ${before}`,
      target: 'no more than before',
    },
    { what: 'exit status', value: status, target: '0' },
  ]
}

async function work(pool, headers, end, count) {
  while (Date.now() < end) {
    try {
      const { statusCode, body } = await pool.request({
        path: '/api/v1/namespaces',
        method: 'GET',
        headers,
      })
      await body.dump()
      if (statusCode === 200) count.good += 1
      else count.failed += 1
    } catch {
      count.failed += 1
    }
  }
}

/** A watch that stays open during the whole run. */
async function watch(pool, headers, signal) {
  const path = '/api/v1/namespaces?watch=true'
  const { body } = await pool.request({ path, method: 'GET', headers, signal })
  body.on('error', () => {}).resume()
}

async function sample(pid, end, memory) {
  while (Date.now() < end) {
    await sleep(2000)
    memory.push(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]))
  }
}

function descriptorsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).length
}
