// `npm run test:matrix`: runs the suites of the library on every supported Node. Tests that import only public subpaths use
// the packages as npm packs and installs them; other tests use the sources. A major version as an argument runs only that
// one: npm run test:matrix -- 22
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { importsOf } from './import-graph.mjs'
import { findNode } from './newer-node.mjs'
import { packInto } from './pack.mjs'
import { runVitest } from './run-vitest.mjs'

const VERSIONS = ['20.20.2', '22.23.3', '24.21.0', '26.10.0']
const SUITES = [
  ...['errors', 'secret', 'formats', 'plugin', 'signer', 'kubeconfig', 'lifecycle', 'metrics'],
  ...['keeper', 'vault', 'node', 'sources', 'tls', 'dial', 'exchange', 'request', 'bridge'],
].map((folder) => `packages/core/test/${folder}/`)
/** One transport of each kind: the others differ only in third-party code. */
const TRANSPORTS = ['fetch', 'http2', 'https-agent', 'undici-7'].map(
  (name) => `packages/core/test/transports/${name}.test.ts`,
)
/** Tests of long load, and of files that are not part of a package. */
const LEFT_OUT = ['**/load*.test.ts', '**/*docs.test.ts', '**/*-page.test.ts']

const wanted = process.argv.slice(2)
const versions = VERSIONS.filter(
  (version) => wanted.length === 0 || wanted.includes(majorOf(version)),
)
if (versions.length === 0) {
  process.stderr.write(
    `no such Node here: ${wanted.join(', ')}. There are ${VERSIONS.map(majorOf).join(', ')}.\n`,
  )
  process.exit(2)
}

const { ofPackages, ofSources } = findTests()
process.stdout.write(
  `${ofPackages.length} test files run on the installed packages, ${ofSources.length} on the sources\n`,
)
const folder = mkdtempSync(join(tmpdir(), 'kubecred-matrix-'))
const results = []
try {
  install()
  for (const version of versions) results.push(test(version))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(`\n${results.map(({ line }) => line).join('\n')}\n`)
process.exitCode = results.every(({ isGood }) => isGood) ? 0 : 1

/** Returns the test files, split by whether they import our sources. */
function findTests() {
  const list = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json']
  const options = ['--typecheck.enabled=false', ...LEFT_OUT.map((each) => `--exclude=${each}`)]
  const { stdout } = run(process.execPath, [...list, ...options, ...SUITES, ...TRANSPORTS], {
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
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // The optional peer dependency that the suites use.
  const peers = [`prom-client@${devDependencies['prom-client']}`]
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

function test(version) {
  const found = findNode(version, { mayInstall: true })
  if (found.problem !== undefined)
    return { isGood: false, line: `Node ${version}: ${found.problem}` }
  process.stdout.write(`\nNode ${version}\n`)
  const startedAt = Date.now()
  const program = join(folder, 'node_modules/@kubecred/cli/bin/kubecred.cjs')
  const says = spawnSync(found.path, [program, 'version'], { encoding: 'utf8' })
  const node = found.path
  const arePassed = [
    runVitest(['--config', 'vitest.matrix.config.ts', ...ofPackages], {
      node,
      env: { KUBECRED_INSTALLED: folder },
    }),
    runVitest(['--typecheck.enabled=false', ...ofSources], { node }),
  ]
  const isGood = arePassed.every(Boolean) && says.stdout.includes(`node v${version}`)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  return { isGood, line: `Node ${version}: ${isGood ? 'good' : 'FAILED'}, in ${seconds} s` }
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

function majorOf(version) {
  return version.split('.')[0]
}
