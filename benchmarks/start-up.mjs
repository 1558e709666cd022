// The time of a command that sends one request, compared with node's own start-up, and with kubectl if it is in PATH. All
// alternate, so that other load affects all of them; the median is used.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'start-up of the program'

const ROUNDS = 40
const PROGRAM = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))

export async function run() {
  const scene = await openScene()
  const where = ['--kubeconfig', scene.kubeconfig]
  const commands = {
    'node -e 0': [process.execPath, '-e', '0'],
    'kubecred version': [process.execPath, PROGRAM, 'version'],
    'kubecred fetch /version': [process.execPath, PROGRAM, 'fetch', ...where, '/version'],
    'kubectl get --raw /version': ['kubectl', ...where, 'get', '--raw', '/version'],
  }
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    delete commands['kubectl get --raw /version']
  }
  const times = Object.fromEntries(Object.keys(commands).map((what) => [what, []]))
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [what, command] of Object.entries(commands)) times[what].push(timeOf(command))
    }
  } finally {
    scene.close()
  }
  const node = median(times['node -e 0'])
  return Object.entries(times).flatMap(([what, each]) => [
    { what, value: `${median(each).toFixed(0)} ms` },
    {
      what: `${what} / node -e 0`,
      value: ratio(median(each), node),
      ...(what === 'kubecred fetch /version' && { target: '<= 2' }),
    },
  ])
}

function timeOf([command, ...args]) {
  const begin = process.hrtime.bigint()
  const { status, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - begin) / 1e6
}
