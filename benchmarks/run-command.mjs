// `kubecred run` with a fixed token, so that the login takes no time: how soon its command starts, how soon it ends after its
// command, and what the first request of the command costs. Commands alternate; the median is used.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'kubecred run'

const ROUNDS = 25
const file = (path) => fileURLToPath(new URL(path, import.meta.url))
const PROGRAM = file('../packages/cli/bin/kubecred.cjs')
const REQUESTS = file('run-requests.mjs')

export async function run() {
  const scene = await openScene({ closes: true })
  const folder = mkdtempSync(join(tmpdir(), 'kb-'))
  // Node reads extra certificates at every start, so that all ratios would look better.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, XDG_RUNTIME_DIR: folder }
  const start = (...command) =>
    spawn(process.execPath, [PROGRAM, 'run', '--kubeconfig', scene.kubeconfig, '--', ...command], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const times = { node: [], start: [], end: [], first: [], later: [] }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      times.node.push(timeOfNode(env))
      const { began, ended, output } = await outcome(() => start('date', '+%s%N'))
      // `date` does next to nothing else, so that this is both its start and its end.
      const ran = Number(BigInt(output.trim()) / 1000n) / 1000
      times.start.push(ran - began)
      times.end.push(ended - ran)
      const answers = await outcome(() => start(process.execPath, REQUESTS, scene.url))
      const { first, later } = JSON.parse(answers.output)
      times.first.push(first)
      times.later.push(later)
    }
  } finally {
    scene.close()
    rmSync(folder, { recursive: true })
  }
  const node = median(times.node)
  const shown = (value) => `${value.toFixed(1)} ms`
  return [
    { what: 'node -e 0', value: shown(node) },
    { what: 'until the command runs', value: shown(median(times.start)) },
    {
      what: 'until the command runs / node -e 0',
      value: ratio(median(times.start), node),
      target: '<= 3',
    },
    {
      what: 'from the end of the command to ours, in ms',
      value: Number(median(times.end).toFixed(1)),
      target: '<= 20',
    },
    { what: 'first request', value: shown(median(times.first)) },
    { what: 'later request, new connections', value: shown(median(times.later)) },
    {
      what: 'first request / later request',
      value: ratio(median(times.first), median(times.later)),
      target: '<= 1.5',
    },
  ]
}

/** Milliseconds since the epoch, with fractions. */
function now() {
  return performance.timeOrigin + performance.now()
}

function timeOfNode(env) {
  const began = now()
  spawnSync(process.execPath, ['-e', '0'], { env })
  return now() - began
}

async function outcome(begin) {
  const began = now()
  const child = begin()
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [status] = await once(child, 'exit')
  const ended = now()
  if (status !== 0) throw new Error(`ended with ${status}`)
  if (child.stdout.readableEnded === false) await once(child.stdout, 'close')
  return { began, ended, output }
}
