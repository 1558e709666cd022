// The time of kubecred-token with an agent that has the credential, compared with node's own start-up.
// Both alternate, so that other load affects both; the median is used.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const name = 'kubecred-token -- PLUGIN, warm'

const ROUNDS = 60
const program = (file) => fileURLToPath(new URL(`../packages/cli/bin/${file}`, import.meta.url))
const INFO =
  '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}'
const ANSWER =
  '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":"2099-01-01T00:00:00Z"}}'

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'kb-'))
  const plain = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder }
  const plugin = join(folder, 'plugin')
  writeFileSync(plugin, `#!/bin/sh\nsleep 1\necho '${ANSWER}'\n`)
  chmodSync(plugin, 0o755)
  const time = (...args) => timeOf(args, { ...plain, KUBERNETES_EXEC_INFO: INFO })
  try {
    const cold = time(program('kubecred-token.cjs'), '--', plugin)
    const nothing = []
    const warm = []
    for (let round = 0; round < ROUNDS; round += 1) {
      nothing.push(time('-e', '0'))
      warm.push(time(program('kubecred-token.cjs'), '--', plugin))
    }
    const ratio = median(warm) / median(nothing)
    return [
      { what: 'cold: agent started, plugin of 1 s', value: `${cold.toFixed(0)} ms` },
      { what: 'warm', value: `${median(warm).toFixed(1)} ms` },
      { what: 'node -e 0', value: `${median(nothing).toFixed(1)} ms` },
      { what: 'warm against node -e 0', value: ratio.toFixed(2), target: '<= 1.2' },
    ]
  } finally {
    spawnSync(process.execPath, [program('kubecred.cjs'), 'agent', 'stop'], { env: plain })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs it in a new shell: a second request of the same client would mean that the server refused the credential. */
function timeOf(args, env) {
  const begin = process.hrtime.bigint()
  const command = ['-c', '"$0" "$@"; exit $?', process.execPath, ...args]
  const { status, stderr } = spawnSync('/bin/sh', command, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) throw new Error(`ended with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - begin) / 1e6
}

function median(times) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]
}
