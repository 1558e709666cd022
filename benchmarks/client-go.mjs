// A warm request compared with client-go: requests per second, and CPU time per request, alternating in one run.
// Both use HTTP/1.1 with the same server. Needs Go; `npm run bench` skips it without.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect } from 'kubecred'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'a warm request, compared with client-go'

const WORKERS = 8
const ROUND_MS = 1000
const ROUNDS = 9
const inTree = (path) => fileURLToPath(new URL(path, import.meta.url))

export async function run() {
  if (spawnSync('go', ['version']).status !== 0) return [{ what: 'skipped', value: 'no Go' }]
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const scene = await openScene()
  const cluster = await connect({ kubeconfig: scene.kubeconfig })
  const theirs = startClientGo(join(folder, 'client-go'), scene.kubeconfig)
  const rounds = { ours: [], theirs: [] }
  try {
    await load(cluster)
    await theirs.round()
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.ours.push(await load(cluster))
      rounds.theirs.push(await theirs.round())
    }
  } finally {
    theirs.end()
    await cluster.close()
    scene.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const of = (side, figure) => median(rounds[side].map(figure))
  const rate = ({ requests, seconds }) => requests / seconds
  const cost = ({ requests, cpu }) => (cpu / requests) * 1e6
  return [
    { what: 'cluster.fetch, requests per second', value: Math.round(of('ours', rate)) },
    { what: 'client-go, requests per second', value: Math.round(of('theirs', rate)) },
    {
      what: 'cluster.fetch / client-go, requests per second',
      value: ratio(of('ours', rate), of('theirs', rate)),
      target: '≥ 0.85',
    },
    { what: 'cluster.fetch, µs of CPU per request', value: Math.round(of('ours', cost)) },
    { what: 'client-go, µs of CPU per request', value: Math.round(of('theirs', cost)) },
    {
      what: 'client-go / cluster.fetch, CPU per request',
      value: ratio(of('theirs', cost), of('ours', cost)),
      target: '≥ 0.85',
    },
  ]
}

async function load(cluster) {
  const [begin, before] = [performance.now(), process.cpuUsage()]
  let requests = 0
  const work = async () => {
    while (performance.now() - begin < ROUND_MS) {
      const response = await cluster.fetch('/x')
      await response.json()
      if (response.status !== 200) throw new Error(`unexpected status ${response.status}`)
      requests += 1
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  const { user, system } = process.cpuUsage(before)
  return { requests, seconds: (performance.now() - begin) / 1000, cpu: (user + system) / 1e6 }
}

/** Built in conformance/client-go, whose go.mod has the modules. */
function startClientGo(path, kubeconfig) {
  const { status, stderr } = spawnSync('go', ['build', '-o', path, inTree('client-go/main.go')], {
    cwd: inTree('../conformance/client-go'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`go could not build benchmarks/client-go: ${stderr}`)
  const args = [kubeconfig, '/x', String(WORKERS), String(ROUND_MS)]
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async round() {
      child.stdin.write('\n')
      const { value, done } = await lines.next()
      if (done) throw new Error('client-go has ended')
      return JSON.parse(value)
    },
    end: () => child.stdin.end(),
  }
}
