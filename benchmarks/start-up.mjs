// The processor time and the elapsed time of short commands, compared with node's own start-up, and with kubectl if it is in
// PATH. All alternate, so that other load affects all of them; the median is used.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'start-up of the program'

const ROUNDS = 7
/** Runs in one measurement, because a shell counts processor time in hundredths of a second. */
const RUNS = 8
/** The targets are for Node 20; newer versions load OpenSSL later, so that `node -e 0` is no measure for a request. */
const TARGETS = { 'kubecred version': '<= 1.1', 'kubecred fetch /version': '<= 2.4' }
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
  const [node] = Object.values(times).map(medians)
  return Object.entries(times).flatMap(([what, each]) => {
    const { cpu, wall } = medians(each)
    return [
      { what: `${what}: processor time`, value: `${cpu.toFixed(1)} ms` },
      {
        what: `${what} / node -e 0: processor time`,
        value: ratio(cpu, node.cpu),
        ...(TARGETS[what] !== undefined && { target: TARGETS[what] }),
      },
      { what: `${what} / node -e 0: elapsed time`, value: ratio(wall, node.wall) },
    ]
  })
}

function medians(times) {
  return { cpu: median(times.map(({ cpu }) => cpu)), wall: median(times.map(({ wall }) => wall)) }
}

/** The last line of `times` is that of the children: user and system time. */
const SCRIPT = `i=0; while [ $i -lt ${RUNS} ]; do "$@" >/dev/null || exit; i=$((i+1)); done; times`

function timeOf(command) {
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', SCRIPT, 'sh', ...command], {
    encoding: 'utf8',
    // Node reads these certificates at every start, so that all ratios would look better.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined },
  })
  if (status !== 0) throw new Error(`${command[0]} ended with ${status}: ${stderr}`)
  const wall = Number(process.hrtime.bigint() - begin) / 1e6 / RUNS
  const parts = [
    ...stdout
      .trim()
      .split('\n')
      .at(-1)
      .matchAll(/(\d+)m([\d.]+)s/g),
  ]
  const seconds = parts.reduce((sum, [, minutes, rest]) => sum + minutes * 60 + Number(rest), 0)
  return { cpu: (seconds * 1000) / RUNS, wall }
}
