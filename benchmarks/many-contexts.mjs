// The time of `kubecred status` with ten thousand contexts, compared with `kubectl config get-contexts` on the same file.
// Both alternate, so that other load affects both; the median is used.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, ratio } from './measure.mjs'

export const name = 'ten thousand contexts'

const COUNT = 10_000
const ROUNDS = 7
const PROGRAM = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))

export async function run() {
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    return [{ what: 'kubectl is not in PATH', value: '-' }]
  }
  return Object.keys(USERS).flatMap((kind) => {
    const { kubecred, kubectl } = compareWithKubectl('kubectl', kind)
    return [
      { what: `kubectl config get-contexts, ${kind}`, value: `${kubectl.toFixed(0)} ms` },
      { what: `kubecred status, ${kind}`, value: `${kubecred.toFixed(0)} ms` },
      { what: 'kubecred status / kubectl', value: ratio(kubecred, kubectl), target: '<= 2' },
    ]
  })
}

/**
 * Measures the median time of both programs, in milliseconds.
 *
 * @param {string} program kubectl
 * @param {string} kind A kind of user: `plugins` or `tokens`.
 * @returns {{ kubecred: number, kubectl: number }}
 */
export function compareWithKubectl(program, kind) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-contexts-'))
  const file = join(folder, 'config')
  writeFileSync(file, kubeconfigOf(USERS[kind]))
  const env = { ...process.env, KUBECONFIG: file }
  const times = { kubecred: [], kubectl: [] }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      times.kubectl.push(timeOf([program, 'config', 'get-contexts'], env))
      times.kubecred.push(timeOf([process.execPath, PROGRAM, 'status'], env))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { kubecred: median(times.kubecred), kubectl: median(times.kubectl) }
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
  tokens: (number) => `    token: token-of-user-${number}\n`,
}

/** Writes a kubeconfig in the form of kubectl and cloud tools. */
function kubeconfigOf(user) {
  const each = (write) => Array.from({ length: COUNT }, (_, number) => write(number)).join('')
  return `apiVersion: v1
kind: Config
current-context: context-7
preferences: {}
clusters:
${each((number) => `- cluster:\n    certificate-authority: /etc/ca.crt\n    server: https://cluster-${number}:6443\n  name: cluster-${number}\n`)}contexts:
${each((number) => `- context:\n    cluster: cluster-${number}\n    namespace: default\n    user: user-${number}\n  name: context-${number}\n`)}users:
${each((number) => `- name: user-${number}\n  user:\n${user(number)}`)}`
}

function timeOf([command, ...args], env) {
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(command, args, { env, maxBuffer: 64 * 1024 * 1024 })
  const lines = stdout.toString().trimEnd().split('\n').length
  if (status !== 0 || lines !== COUNT + 1) {
    throw new Error(`${command} ended with ${status} after ${lines} lines: ${stderr}`)
  }
  return Number(process.hrtime.bigint() - begin) / 1e6
}
