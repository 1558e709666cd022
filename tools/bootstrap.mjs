// Prepares a fresh clone: installs the dependencies of the lock file, and builds. Uses only Node's own modules, because nothing is installed yet.
// `npm install`, not `npm ci`: a registry without other platforms' optional packages leaves a lock that `npm ci` refuses.
// A stamp file records what was done, so that the second call takes milliseconds.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lock = join(root, 'package-lock.json')
const packages = readdirSync(join(root, 'packages'))
const manifests = ['package.json', ...packages.map((name) => `packages/${name}/package.json`)]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node ${process.versions.node} is too old: kubecred needs Node 20.19 or newer.`)
}

install()
build()

function install() {
  const stamp = join(root, 'node_modules/.kubecred-installed')
  const wanted = digest([lock, ...manifests.map((name) => join(root, name))])
  if (read(stamp) === wanted) return
  const before = read(lock)
  run('npm', ['install', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  if (before !== undefined) checkLock(before)
  writeFileSync(stamp, digest([lock, ...manifests.map((name) => join(root, name))]))
}

/**
 * Checks that the install took what the lock file says.
 *
 * npm adds and removes optional packages, depending on the platform and on what the registry has, and its versions mark
 * packages differently. That is undone, so that an install never changes a clone.
 */
function checkLock(before) {
  const after = read(lock)
  if (after === before) return
  if (neededPackages(after) !== neededPackages(before)) {
    fail('package-lock.json does not fit the manifests: it changed during the install. Commit it.')
  }
  writeFileSync(lock, before)
}

/** Returns the packages that every install has: where each is, and which one it is. */
function neededPackages(text) {
  const needed = Object.entries(JSON.parse(text).packages).filter(([, { optional }]) => !optional)
  return JSON.stringify(needed.map(([path, { version, integrity }]) => [path, version, integrity]))
}

function build() {
  const stamp = join(root, 'node_modules/.kubecred-built')
  const sources = packages.flatMap((name) => listFiles(join(root, 'packages', name, 'src')))
  const configs = [
    ...['tsconfig.base.json', 'tsconfig.build.json'],
    ...['clean-dist', 'bundle-library', 'bundle-settings', 'bundle'].map(
      (name) => `tools/${name}.mjs`,
    ),
    ...packages.map((name) => `packages/${name}/tsconfig.build.json`),
    // They list the subpaths.
    ...manifests,
  ].map((name) => join(root, name))
  const wanted = digest([...sources, ...configs, lock])
  const built = packages.every((name) => existsSync(join(root, 'packages', name, 'dist')))
  if (built && read(stamp) === wanted) return
  run('npm', ['run', '--silent', 'build'])
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort()
}

function digest(paths) {
  const hash = createHash('sha256').update(process.version)
  for (const path of paths) hash.update(`\0${path}\0`).update(read(path) ?? '')
  return hash.digest('hex')
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function run(command, args) {
  // On Windows npm is a .cmd file, which only a shell can start; the arguments are constants.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (error) fail(`cannot run ${command}: ${error.message}`)
  if (status !== 0) fail(`${[command, ...args].join(' ')} ended with status ${status}`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
