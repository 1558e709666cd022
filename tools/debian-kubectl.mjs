// Finds the kubectl that Debian ships, for tests with an old version. It is unpacked into a folder outside version control
// and never installed, so that it does not replace the machine's kubectl.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findApt } from './apt.mjs'

const PACKAGE = 'kubernetes-client'
const DPKG = 'dpkg'
/** Also used by the tests in packages/cli/test/agent. */
const CACHE = fileURLToPath(
  new URL('../node_modules/.cache/kubecred/debian-kubectl', import.meta.url),
)

/**
 * Returns the path of Debian's kubectl, or why it is not available.
 *
 * @returns {{ path: string } | { problem: string }}
 */
export function findDebianKubectl({ mayInstall, apt = findApt(), cache = CACHE }) {
  const path = join(cache, 'usr/bin/kubectl')
  if (existsSync(path)) return { path }
  if (!mayInstall) return { problem: `the kubectl of Debian's ${PACKAGE} is not here` }
  mkdirSync(dirname(cache), { recursive: true })
  const folder = mkdtempSync(`${cache}-`)
  try {
    return unpack(folder, apt, cache) ?? { path }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Downloads and unpacks it. Returns the problem, or undefined on success. */
function unpack(folder, apt, cache) {
  // apt's sandbox user cannot write here; apt warns and continues as root.
  const options = { cwd: folder, stdio: ['ignore', 2, 2] }
  if (spawnSync('apt-get', ['download', PACKAGE], options).status !== 0) {
    apt.run?.('update', '-q')
    spawnSync('apt-get', ['download', PACKAGE], options)
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.deb'))
  if (file === undefined) return { problem: `apt-get could not download ${PACKAGE}` }
  const target = join(folder, 'unpacked')
  if (spawnSync(DPKG, ['-x', file, target], options).status !== 0) {
    return { problem: `dpkg cannot unpack ${file}` }
  }
  try {
    renameSync(target, cache)
  } catch (error) {
    // Another process has done it meanwhile.
    if (!existsSync(cache)) throw error
  }
  return undefined
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { path, problem } = findDebianKubectl({ mayInstall: true })
  process.stdout.write(`${path ?? problem}\n`)
  process.exitCode = path === undefined ? 1 : 0
}
