// The time of `kubecred status` and `kubecred doctor` with one to ten thousand contexts, compared with
// `kubectl config get-contexts` on the same file. All alternate, so that other load affects all; the median is used.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isShort, median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'contexts of a kubeconfig'

const COUNTS = [1, 10, 100, 1000, 10_000]
const MAX_COUNT = 10_000
const ROUNDS = isShort ? 3 : 7
const PROGRAM = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))
const KUBECTL = 'kubectl config get-contexts'

export async function run() {
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    return [{ what: 'not run', value: 'kubectl is not in PATH' }]
  }
  const scene = await openScene()
  try {
    const rows = COUNTS.flatMap((count) => rowsOf(count, measureContexts({ count, scene })))
    const { kubecred, kubectl } = compareWithKubectl('kubectl', 'plugins')
    const what = 'kubecred status, 10,000 with plugins'
    const value = ratio(kubecred, kubectl)
    return [...rows, { what, peer: 'kubectl', value, target: '≤ 2' }]
  } finally {
    scene.close()
  }
}

function rowsOf(x, times) {
  const rows = Object.entries(times).map(([series, time]) => ({
    what: `${x.toLocaleString('en')}: ${series}`,
    unit: 'ms',
    value: Math.round(time),
    plot: { chart: 'contexts', series, x },
  }))
  if (x !== MAX_COUNT) return rows
  const value = ratio(times['kubecred status'], times[KUBECTL])
  const what = 'kubecred status, 10,000 with tokens'
  return [...rows, { what, peer: 'kubectl', value, target: '≤ 2' }]
}

/**
 * Measures the median time of `status` and kubectl with ten thousand contexts, in milliseconds.
 *
 * @param {string} program kubectl
 * @param {string} kind A kind of user: `plugins` or `tokens`.
 * @returns {{ kubecred: number, kubectl: number }}
 */
export function compareWithKubectl(program, kind) {
  const options = { count: MAX_COUNT, kind, program }
  const { 'kubecred status': kubecred, [KUBECTL]: kubectl } = measureContexts(options)
  return { kubecred, kubectl }
}

/** @param scene The server of the current context; without it, doctor is not measured. */
function measureContexts({ count, kind = 'tokens', program = 'kubectl', scene }) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-contexts-'))
  const file = join(folder, 'config')
  writeFileSync(file, kubeconfigOf(count, USERS[kind], scene))
  const env = { ...process.env, KUBECONFIG: file }
  const listing = (command) => timeOf(command, env, count + 1)
  const commands = {
    'kubecred status': () => listing([process.execPath, PROGRAM, 'status']),
    [KUBECTL]: () => listing([program, 'config', 'get-contexts']),
    ...(scene && { 'kubecred doctor': () => timeOf([process.execPath, PROGRAM, 'doctor'], env) }),
  }
  const times = Object.fromEntries(Object.keys(commands).map((what) => [what, []]))
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [what, time] of Object.entries(commands)) times[what].push(time())
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return Object.fromEntries(Object.entries(times).map(([what, each]) => [what, median(each)]))
}

const USERS = {
  plugins: (number) => `    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args:
      - eks
      - get-token
      - --cluster-name
      - cluster-${number}
      env:
      - name: AWS_PROFILE
        value: profile-${number}
      interactiveMode: Never
`,
  tokens: (number) => `    token: ${number === 0 ? 'benchmark' : `token-of-user-${number}`}\n`,
}

/** Writes a kubeconfig in the form of kubectl and cloud tools. The first context is the current one. */
function kubeconfigOf(count, user, scene) {
  const each = (write) => Array.from({ length: count }, (_, number) => write(number)).join('')
  const cluster = (number) => {
    const isScene = number === 0 && scene !== undefined
    const authority = isScene
      ? `certificate-authority-data: ${Buffer.from(scene.ca).toString('base64')}`
      : 'certificate-authority: /etc/ca.crt'
    const server = isScene ? scene.url : `https://cluster-${number}:6443`
    return `- cluster:\n    ${authority}\n    server: ${server}\n  name: cluster-${number}\n`
  }
  return `apiVersion: v1
kind: Config
current-context: context-0
preferences: {}
clusters:
${each(cluster)}contexts:
${each((number) => `- context:\n    cluster: cluster-${number}\n    namespace: default\n    user: user-${number}\n  name: context-${number}\n`)}users:
${each((number) => `- name: user-${number}\n  user:\n${user(number)}`)}`
}

/** @param lines How many lines the command must print, if that is known. */
function timeOf([command, ...args], env, lines) {
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(command, args, { env, maxBuffer: 64 * 1024 * 1024 })
  const took = Number(process.hrtime.bigint() - begin) / 1e6
  const printed = stdout.toString().trimEnd().split('\n').length
  if (status !== 0 || (lines !== undefined && printed !== lines)) {
    throw new Error(`${command} ended with ${status} after ${printed} lines: ${stderr}`)
  }
  return took
}
