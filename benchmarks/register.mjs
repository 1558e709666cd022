// `node --import kubecred/register` with a fixed token, so that the login takes no time: how much later a program starts and
// ends, and what its first request costs. By hand only: docs/register.md has the result. Programs alternate; the median is used.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'kubecred/register'

const ROUNDS = 25
const MODULE = createRequire(import.meta.url).resolve('kubecred/register')
const REQUESTS = fileURLToPath(new URL('run-requests.mjs', import.meta.url))

export async function run() {
  const scene = await openScene({ closes: true })
  const folder = mkdtempSync(join(tmpdir(), 'kb-'))
  const env = {
    ...process.env,
    // Node reads extra certificates at every start, so that all ratios would look better.
    NODE_EXTRA_CA_CERTS: undefined,
    XDG_RUNTIME_DIR: folder,
    KUBECONFIG: scene.kubeconfig,
  }
  const node = (...args) => {
    const began = performance.now()
    const { status, stdout } = spawnSync(process.execPath, args, { env, stdio: [0, 'pipe', 2] })
    if (status !== 0) throw new Error(`ended with ${status}`)
    return { tookMs: performance.now() - began, stdout }
  }
  const times = { node: [], register: [], first: [], later: [] }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      times.node.push(node('-e', '0').tookMs)
      times.register.push(node('--import', MODULE, '-e', '0').tookMs)
      const { first, later } = JSON.parse(node('--import', MODULE, REQUESTS, scene.url).stdout)
      times.first.push(first)
      times.later.push(later)
    }
  } finally {
    scene.close()
    rmSync(folder, { recursive: true })
  }
  const shown = (values) => `${median(values).toFixed(1)} ms`
  return [
    { what: 'node -e 0', value: shown(times.node) },
    { what: 'node --import kubecred/register -e 0', value: shown(times.register) },
    {
      what: 'node --import kubecred/register -e 0 / node -e 0',
      value: ratio(median(times.register), median(times.node)),
    },
    { what: 'first request', value: shown(times.first) },
    {
      what: 'first request / later request',
      value: ratio(median(times.first), median(times.later)),
    },
  ]
}
