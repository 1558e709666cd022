// Finds other versions of Node: a newer one for tests of packages that do not run on every supported Node (undici 8,
// client-node 2), and all of them for the matrix.
// They are installed from npm into a folder outside version control, and only on request.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest version that the tests in FOLDER run on. */
const [OLDEST_MAJOR, OLDEST_MINOR] = [22, 19]
const VERSION = '24.21.0'
const CACHE = fileURLToPath(new URL('../node_modules/.cache/kubecred', import.meta.url))

/** The tests that need it. */
export const FOLDER = 'packages/core/test/newer-node'

/**
 * Returns the path of a newer Node, which may be the current one, or why there is none.
 *
 * @returns {{ path: string, version: string } | { problem: string }}
 */
export function findNewerNode({ mayInstall }) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isNewEnough = major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)
  if (isNewEnough) return { path: process.execPath, version: process.versions.node }
  return findNode(VERSION, { mayInstall })
}

/** Returns the path of a specific version of Node, or why there is none. */
export function findNode(version, { mayInstall }) {
  if (process.versions.node === version) return { path: process.execPath, version }
  const known = probe(version)
  if (known !== undefined) return known
  if (!mayInstall) return { problem: `Node ${version} is not here` }
  const name = packageName()
  const args = ['install', `${name}@${version}`, '--prefix', cacheOf(version), '--no-save']
  // On Windows npm is a .cmd file, which only a shell can start.
  spawnSync('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  return probe(version) ?? { problem: `npm did not bring ${name}@${version}` }
}

function probe(version) {
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'
  const path = join(cacheOf(version), 'node_modules', packageName(), file)
  if (!existsSync(path)) return undefined
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  // Another version was installed for an older pin.
  return status === 0 && stdout.trim() === `v${version}` ? { path, version } : undefined
}

function cacheOf(version) {
  return join(CACHE, `node-${version.split('.')[0]}`)
}

function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  return `node-${platform}-${process.arch}`
}
