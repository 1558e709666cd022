// Finds the kubectl that Debian ships, for the tests with an old one. It is unpacked into a folder outside version
// control, and never installed: on most machines kubectl is another one, and stays it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PACKAGE = 'kubernetes-client'
const DPKG = 'dpkg'
/** The tests in packages/cli/test/agent know it too. */
const CACHE = fileURLToPath(
  new URL('../node_modules/.cache/kubecred/debian-kubectl', import.meta.url),
)

/**
 * Whether it is there, or why not.
 *
 * @returns {{ path: string } | { problem: string }}
 */
export function findDebianKubectl({ mayInstall }) {
  const path = join(CACHE, 'usr/bin/kubectl')
  if (existsSync(path)) return { path }
  if (!mayInstall) return { problem: `the kubectl of Debian's ${PACKAGE} is not here` }
  mkdirSync(dirname(CACHE), { recursive: true })
  const folder = mkdtempSync(`${CACHE}-`)
  try {
    return unpack(folder) ?? { path }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Undefined when all is well. */
function unpack(folder) {
  // As another user apt could not write here; the warning about it says so and changes nothing.
  const options = { cwd: folder, stdio: ['ignore', 2, 2] }
  if (spawnSync('apt-get', ['download', PACKAGE], options).status !== 0) {
    spawnSync('apt-get', ['update'], { stdio: 'ignore' })
    spawnSync('apt-get', ['download', PACKAGE], options)
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.deb'))
  if (file === undefined) return { problem: `apt-get did not bring ${PACKAGE}` }
  const target = join(folder, 'unpacked')
  if (spawnSync(DPKG, ['-x', file, target], options).status !== 0) {
    return { problem: `dpkg cannot unpack ${file}` }
  }
  try {
    renameSync(target, CACHE)
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(CACHE)) throw error
  }
  return undefined
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { path, problem } = findDebianKubectl({ mayInstall: true })
  process.stdout.write(`${path ?? problem}\n`)
  process.exitCode = path === undefined ? 1 : 0
}
