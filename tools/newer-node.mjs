// Finds a newer Node for the tests of packages that do not run on every Node we support: undici 8 and client-node 2.
// It comes from npm, into a folder outside version control, only when an install was asked for.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest that the tests in FOLDER run on; vitest.config.ts knows it too. */
const OLDEST = [22, 19]
const VERSION = '24.21.0'
const CACHE = fileURLToPath(new URL('../node_modules/.cache/kubecred/node-24', import.meta.url))

/** Where the tests are that need it. */
export const FOLDER = 'packages/core/test/newer-node'

/** Whether the Node that runs this is new enough: then the suite has these tests already. */
export function isNewEnough([major = 0, minor = 0] = process.versions.node.split('.').map(Number)) {
  const [wanted, least] = OLDEST
  return major > wanted || (major === wanted && minor >= least)
}

/**
 * The path of a newer Node, or why there is none.
 *
 * @returns {{ path: string, version: string } | { problem: string }}
 */
export function findNewerNode({ mayInstall }) {
  const known = probe()
  if (known !== undefined) return known
  if (!mayInstall) return { problem: `Node ${OLDEST.join('.')} or newer is not here` }
  const name = packageName()
  const args = ['install', `${name}@${VERSION}`, '--prefix', CACHE, '--no-save', '--ignore-scripts']
  // On Windows npm is a .cmd file, which only a shell can start.
  spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  return probe() ?? { problem: `npm did not bring ${name}@${VERSION}` }
}

function probe() {
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'
  const path = join(CACHE, 'node_modules', packageName(), file)
  if (!existsSync(path)) return undefined
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  // Another version is of an older pin.
  return status === 0 && stdout.trim() === `v${VERSION}` ? { path, version: VERSION } : undefined
}

function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  return `node-${platform}-${process.arch}`
}
