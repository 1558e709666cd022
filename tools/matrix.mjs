// `npm run test:matrix`: runs the suites of the library on every supported Node, the tests of test/runtimes on Node, Bun and
// Deno, and those of test/windows under Wine. Tests that import only public subpaths use the packages as npm packs and
// installs them; other tests use the sources. A runtime as an argument runs only that one: npm run test:matrix -- 22 or
// npm run test:matrix -- bun. With --record the counts are written to tools/runtimes/recorded.json and docs/runtimes.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, sep } from 'node:path'
import { findRuntime, provideExtraPackages, RUNTIMES } from './extra-packages.mjs'
import { importsOf } from './import-graph.mjs'
import { findNode } from './newer-node.mjs'
import { packInto } from './pack.mjs'
import { runVitest } from './run-vitest.mjs'
import { bundleTests } from './runtimes/bundle-tests.mjs'
import { recordRuntime } from './runtimes/record.mjs'
import { runTests } from './runtimes/run-tests.mjs'
import { testWindows } from './windows.mjs'

const PLATFORMS = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }
const ENDING = '.test.mjs'
const NODES = ['20.20.2', '22.23.3', '24.21.0', '26.10.0']
/** Every runtime, by the argument that selects it. */
const MATRIX = {
  ...Object.fromEntries(
    NODES.map((version) => [version.split('.')[0], { runtime: 'Node', version }]),
  ),
  bun: { runtime: 'Bun', version: RUNTIMES.bun },
  deno: { runtime: 'Deno', version: RUNTIMES.deno },
}
const NAMES = [...Object.keys(MATRIX), 'windows']
const SUITES = [
  ...['errors', 'secret', 'formats', 'plugin', 'signer', 'kubeconfig', 'lifecycle', 'metrics'],
  ...[
    'keeper',
    'vault',
    'node',
    'sources',
    'tls',
    'dial',
    'exchange',
    'request',
    'bridge',
    'register',
  ],
].map((folder) => `packages/core/test/${folder}/`)
/** Tables that the other suites run on Node, where they differ from the rest only in third-party code. */
const NOT_ON_NODE = [
  ...['fetch-https', 'fetch-http2', 'fetch-on-vault'],
  ...['https-agent-direct', 'undici-7-interceptor'],
]
/** Tests of long load, and of files that are not part of a package. */
const LEFT_OUT = ['**/load*.test.ts', '**/*docs.test.ts', '**/*-page.test.ts']

const given = process.argv.slice(2)
const isRecorded = given.includes('--record')
const wanted = given.filter((each) => each !== '--record')
const unknown = wanted.find((each) => !NAMES.includes(each))
if (unknown !== undefined) {
  process.stderr.write(`no such runtime: ${unknown}. There are ${NAMES.join(', ')}.\n`)
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'kubecred-matrix-'))
const results = []
try {
  install()
  const bundled = await bundleTests(join(folder, 'tests'))
  const listed = findTests()
  process.stdout.write(
    `${listed.ofPackages.length + bundled.length} test files run on the installed packages, ${listed.ofSources.length} on the sources\n`,
  )
  for (const name of NAMES) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const result =
      name === 'windows'
        ? testWindows(folder, { isRecorded })
        : await test(name, { ...listed, bundled })
    results.push(result)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(`\n${results.map(({ line }) => line).join('\n')}\n`)
process.exitCode = results.every(({ isGood }) => isGood) ? 0 : 1

/** Returns the test files, split by whether they import our sources. */
function findTests() {
  const list = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json']
  const options = ['--typecheck.enabled=false', ...LEFT_OUT.map((each) => `--exclude=${each}`)]
  const { stdout } = run(process.execPath, [...list, ...options, ...SUITES], {
    shell: false,
  })
  const files = JSON.parse(stdout).map(({ file }) => relative('', file).split(sep).join('/'))
  const known = new Map()
  return {
    ofPackages: files.filter((file) => !reachesSources(file, known)),
    ofSources: files.filter((file) => reachesSources(file, known)),
  }
}

/** Whether a test file imports a source, directly or through its helpers. */
function reachesSources(file, known) {
  if (/^packages\/[^/]+\/src\//.test(file)) return true
  // Terminates, because Biome rejects import cycles.
  if (!known.has(file)) {
    const imports = importsOf(readFileSync(file, 'utf8'), file).filter(({ isType }) => !isType)
    const reaches = ({ path }) => path !== undefined && reachesSources(path, known)
    known.set(file, imports.some(reaches))
  }
  return known.get(file)
}

/** Packs our packages and installs them like a user, with their dependencies from the registry. */
function install() {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const tarballs = packInto(folder).map(({ file }) => `./${file}`)
  const { devDependencies } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'))
  // The optional peer dependencies that the suites use.
  const names = ['prom-client', '@kubernetes/client-node', 'ws']
  const peers = names.map((name) => `${name}@${devDependencies[name]}`)
  // Without the native addon, which these suites do not use.
  const flags = [
    '--omit=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  run('npm', ['install', ...tarballs, ...peers, ...flags], { cwd: folder, stdio: ['ignore', 2, 2] })
}

/** Runs all tests of a runtime, and records their counts. */
async function test(name, { ofPackages, ofSources, bundled }) {
  const { runtime, version } = MATRIX[name]
  const title = `${runtime} ${version}`
  const { path, problem } = find(runtime, version)
  if (problem !== undefined) return { isGood: false, line: `${title}: ${problem}` }
  process.stdout.write(`\n${title}\n`)
  const startedAt = Date.now()
  const isNode = runtime === 'Node'
  const files = bundled.filter((file) => !isNode || !NOT_ON_NODE.includes(basename(file, ENDING)))
  const counts = [await runTests(runtime, path, files)]
  for (const each of counts[0].problems) process.stdout.write(`${each}\n`)
  if (isNode) {
    const installed = { KUBECRED_INSTALLED: folder }
    const onPackages = ['--config', 'vitest.matrix.config.ts', ...ofPackages]
    counts.push(testWithVitest(path, onPackages, installed))
    counts.push(testWithVitest(path, ['--typecheck.enabled=false', ...ofSources], {}))
    counts.push(startProgram(path, version))
  }
  const sum = (key) => counts.reduce((total, each) => total + each[key], 0)
  const [run, passed, failingAsWritten] = ['run', 'passed', 'failingAsWritten'].map(sum)
  const isGood = counts.every(({ problems }) => problems.length === 0)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const line = `${title}: ${isGood ? 'good' : 'FAILED'}, ${run} run, ${passed} passed, ${failingAsWritten} failing as written, in ${seconds} s`
  if (isRecorded && isGood) {
    const platform = `${PLATFORMS[process.platform]} ${process.arch}`
    recordRuntime(`${process.platform}-${process.arch}-${isNode ? `node-${name}` : name}`, {
      platform,
      runtime: title,
      run,
      passed,
      failingAsWritten,
    })
  }
  return { isGood, line }
}

function find(runtime, version) {
  if (runtime === 'Node') return findNode(version, { mayInstall: true })
  provideExtraPackages({ mayInstall: true })
  const path = findRuntime(runtime.toLowerCase())
  if (path === undefined) return { problem: 'npm could not install it' }
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return stdout.includes(version) ? { path } : { problem: `there is ${stdout.split('\n')[0]}` }
}

/** Runs vitest, and counts its tests. */
function testWithVitest(node, args, env) {
  const outputFile = join(folder, 'vitest.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`]
  const isGood = runVitest([...args, ...reporters], { node, env })
  const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8'))
  const passed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed').length
  return { run: passed, passed, failingAsWritten: 0, problems: isGood ? [] : ['vitest failed'] }
}

/** Starts the installed program. */
function startProgram(node, version) {
  const program = join(folder, 'node_modules/@kubecred/cli/bin/kubecred.cjs')
  const { stdout } = spawnSync(node, [program, 'version'], { encoding: 'utf8' })
  const isGood = stdout.includes(`node v${version}`)
  return {
    run: 1,
    passed: Number(isGood),
    failingAsWritten: 0,
    problems: isGood ? [] : [`kubecred version printed ${stdout}`],
  }
}

function run(command, args, options) {
  // On Windows npm is a .cmd file, which only a shell can start.
  const ended = spawnSync(command, args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    ...options,
  })
  if (ended.status === 0) return ended
  throw new Error(
    `${command} ${args.join(' ')} ended with ${ended.status ?? ended.signal ?? ended.error}`,
  )
}
