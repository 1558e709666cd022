// `npm run mutation -- FOLDER…`: changes the sources of a folder in small ways, one at a time, and runs the folder's own
// tests. A change that no test notices is printed. The counts go to recorded.json and from there to docs/testing.md.
// FOLDER is a folder below src, such as core/lifecycle or cli/proxy, or one of its files.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Stryker } from '@stryker-mutator/core'
import { readRecord, writeRecord } from './record.mjs'
import { scoreOf, TARGETS, writePage } from './testing-page.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const own = (name) => fileURLToPath(new URL(name, import.meta.url))

/** Stryker runs tests in a thread, where these fail: they set the umask, or the home folder. */
const NOT_IN_A_THREAD = [
  'packages/core/test/signer/kit/listen-signer.test.ts',
  'packages/core/test/vault/kopf/credentials.test.ts',
]

/** Tests that start servers or processes, or try much. They would take half a minute for each mutant. */
const SLOW = [
  'packages/cli/test/proxy/callers.test.ts',
  'packages/cli/test/proxy/flags.test.ts',
  'packages/cli/test/proxy/in-a-pod.test.ts',
  'packages/cli/test/proxy/no-descriptors.test.ts',
  'packages/cli/test/proxy/proxy.test.ts',
  'packages/cli/test/proxy/shutdown.test.ts',
  'packages/cli/test/proxy/unexpected.test.ts',
  'packages/cli/test/proxy/unix-socket.test.ts',
  'packages/core/test/proxy/callers.test.ts',
  'packages/core/test/proxy/close.test.ts',
  'packages/core/test/proxy/failures.test.ts',
  'packages/core/test/proxy/forward.test.ts',
  'packages/core/test/proxy/guard.test.ts',
  'packages/core/test/proxy/half-close.test.ts',
  'packages/core/test/proxy/headers.test.ts',
  'packages/core/test/proxy/held-connections.test.ts',
  'packages/core/test/proxy/kubectl.test.ts',
  'packages/core/test/proxy/limits.test.ts',
  'packages/core/test/proxy/long-running.test.ts',
  'packages/core/test/proxy/request-end.test.ts',
  'packages/core/test/proxy/smuggling.test.ts',
  'packages/core/test/proxy/target.test.ts',
  'packages/core/test/proxy/unexpected.test.ts',
  'packages/core/test/proxy/upgrade.test.ts',
  'packages/core/test/request/abort-signal.test.ts',
  'packages/core/test/tls/handshake-tracker-mutations.test.ts',
  'packages/core/test/tls/handshakes.test.ts',
  'packages/core/test/tls/http.test.ts',
  'packages/core/test/tls/mutated-handshakes.test.ts',
  'packages/core/test/tls/other-servers.test.ts',
  'packages/core/test/tls/refusals.test.ts',
  'packages/core/test/tls/signing-keys.test.ts',
  'packages/core/test/tls/slow-signers.test.ts',
  'packages/core/test/tls/sockets.test.ts',
  'packages/core/test/tls/traffic-secrets.test.ts',
  'packages/core/test/vault/authenticator-down.test.ts',
  'packages/core/test/vault/kopf/flaws.test.ts',
  'packages/core/test/vault/kopf/flaws-in-flight.test.ts',
  'packages/core/test/vault/kopf/flaws-login-fields.test.ts',
  'packages/core/test/vault/kopf/id-detection.test.ts',
  'packages/core/test/vault/kopf/requests.test.ts',
  'packages/core/test/vault/kopf/running.test.ts',
  'packages/core/test/vault/load.test.ts',
  'packages/core/test/vault/load-frozen.test.ts',
  'packages/core/test/vault/misbehaving-cluster.test.ts',
  'packages/core/test/vault/model.test.ts',
  'packages/core/test/vault/visibility-canary.test.ts',
  'packages/core/test/vault/visibility-log.test.ts',
  'packages/core/test/vault/visibility-plugins.test.ts',
]

const wanted = process.argv.slice(2)
if (wanted.length === 0 || !wanted.every((name) => /^(core|cli)\/[\w/-]+(\.ts)?$/.test(name))) {
  process.stderr.write('usage: npm run mutation -- FOLDER…   such as core/lifecycle or cli/proxy\n')
  process.exit(2)
}
process.chdir(root)
// Outside the tree, so that no other tool reads the copies.
const copies = mkdtempSync(join(realpathSync(tmpdir()), 'kubecred-mutation-'))
process.on('exit', () => rmSync(copies, { recursive: true, force: true }))
for (const [folder, files] of filesByFolder(wanted)) {
  const mutants = await mutate(files, folder)
  record(files, mutants)
  const timeouts = mutants.filter(isTimeout).length
  process.stdout.write(`${folder}: ${timeouts} of the found mutants were timeouts\n`)
  const score = scoreOf(folder, readRecord().mutation)
  if (TARGETS.includes(folder) && score.percent < 85) process.exitCode = 1
}
writePage()

/** Files of one folder are measured in one run: the tests without a mutant take long too. */
function filesByFolder(names) {
  const folders = new Map()
  for (const name of names) {
    const isFile = name.endsWith('.ts')
    const folder = isFile ? name.slice(0, name.lastIndexOf('/')) : name
    const files = isFile ? [name] : sourcesOf(folder).map((file) => `${folder}/${file}`)
    folders.set(folder, [...new Set([...(folders.get(folder) ?? []), ...files])])
  }
  return folders
}

function isTimeout({ status, statusReason = '' }) {
  return status === 'Timeout' || /^Test timed out/.test(statusReason)
}

/** Returns the result of each mutant. */
async function mutate(files, folder) {
  return await new Stryker({
    mutate: files.map((file) => pathOf(file, 'src')),
    testRunner: 'vitest',
    testFiles: testsOf(folder),
    plugins: [
      fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner')),
      own('ignore-messages.mjs'),
    ],
    vitest: { configFile: 'tools/test-quality/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // What runs only while a module is loaded would need every test, in a new process.
    ignoreStatic: true,
    ignorers: ['messages'],
    concurrency: 1,
    // Long, because a timeout counts as found: a busy machine must not improve the score.
    timeoutMS: 15_000,
    timeoutFactor: 3,
    disableTypeChecks: false,
    // Stryker would read it with the compiler, which it does not know in this version.
    tsconfigFile: 'none.json',
    ignorePatterns: ['build', 'coverage'],
    tempDirName: copies,
    cleanTempDir: 'always',
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { reportTests: false, logTests: false },
  }).runMutationTest()
}

/** Counts the mutants of each file. One that makes the tests endless is found too. */
function record(files, mutants) {
  const counted = files.map((file) => {
    const statuses = mutants
      .filter(({ fileName }) => fileName.endsWith(`/${pathOf(file, 'src')}`))
      .map(({ status }) => status)
    const count = (...names) => statuses.filter((status) => names.includes(status)).length
    const found = count('Killed', 'Timeout')
    return [file, { found, missed: count('Survived', 'NoCoverage'), ignored: count('Ignored') }]
  })
  const { mutation, ...rest } = readRecord()
  writeRecord({ ...rest, mutation: { ...mutation, ...Object.fromEntries(counted) } })
}

function sourcesOf(folder) {
  return readdirSync(pathOf(folder, 'src')).filter((name) => /\.ts$/.test(name))
}

/** Returns the tests of a folder and of the folders inside it. */
function testsOf(folder) {
  const tests = pathOf(folder, 'test')
  return readdirSync(tests, { recursive: true })
    .filter((name) => /\.test\.ts$/.test(name))
    .map((name) => `${tests}/${name}`)
    .filter((path) => !NOT_IN_A_THREAD.includes(path) && !SLOW.includes(path))
}

/** `core/lifecycle/policy.ts` is `packages/core/src/lifecycle/policy.ts`. */
function pathOf(name, kind) {
  const [owner, ...rest] = name.split('/')
  return `packages/${owner}/${kind}/${rest.join('/')}`
}
