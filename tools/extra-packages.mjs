// npm packages that only the long suite and the matrix use, and that are too large for dependencies of the repository. They are installed
// into a folder outside version control, and only on request.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The versions of client-node that attach() is tested with, in addition to the newest. */
export const CLIENT_NODES = ['1.0.0', '1.1.2', '1.2.0', '1.3.0']

/** Other runtimes that the library runs on. */
export const RUNTIMES = { bun: '1.4.4', deno: '2.9.6' }

const PACKAGES = [
  ...CLIENT_NODES.map((version) => ({
    name: `client-node-${version}`,
    from: `npm:@kubernetes/client-node@${version}`,
  })),
  ...Object.entries(RUNTIMES).map(([name, from]) => ({ name, from })),
]

const FOLDER = fileURLToPath(
  new URL('../node_modules/.cache/kubecred/extra-packages', import.meta.url),
)

/** Returns the path of a file in a package; undefined if the package is not installed. */
export function findInPackage(name, file) {
  const path = join(FOLDER, 'node_modules', name, file)
  return existsSync(path) ? path : undefined
}

/** Returns the path of another runtime; undefined if it is not installed. @param {'bun' | 'deno'} name */
export function findRuntime(name) {
  if (name === 'deno') return findInPackage('.bin', 'deno')
  // The launcher in the package works only after an install script.
  const cpu = process.arch === 'arm64' ? 'aarch64' : process.arch
  return findInPackage(`@oven/bun-${process.platform}-${cpu}`, 'bin/bun')
}

/** Installs missing packages if that was requested. Returns whether all are installed. */
export function provideExtraPackages({ mayInstall }) {
  if (mayInstall && !areHere()) {
    const packages = PACKAGES.map(({ name, from }) => `${name}@${from}`)
    const quietly = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    // On Windows npm is a .cmd file, which only a shell can start.
    spawnSync('npm', ['install', ...packages, '--prefix', FOLDER, ...quietly], {
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
  }
  return areHere()
}

function areHere() {
  return PACKAGES.every(({ name }) => findInPackage(name, 'package.json') !== undefined)
}
