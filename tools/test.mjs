// The test command: the fast suite. What npm can install, tools/bootstrap.mjs has installed; this adds system packages,
// and a newer Node for the few tests that need one. What is missing is skipped with its reason. With CI=true or
// KUBECRED_INSTALL=1 it is installed first, and what cannot be had is a failure.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { findDebianKubectl } from './debian-kubectl.mjs'
import { FOLDER, findNewerNode, isNewEnough } from './newer-node.mjs'

const PACKAGES = [
  { command: 'openssl', probe: ['version'], debian: 'openssl', for: 'TLS alerts' },
  { command: 'gnutls-serv', probe: ['--version'], debian: 'gnutls-bin', for: 'TLS with GnuTLS' },
  // The programs without the service where there is such a package: nothing has to be started.
  { command: 'tinyproxy', probe: ['-v'], debian: 'tinyproxy-bin', for: 'HTTP proxies' },
  { command: 'danted', probe: ['-v'], debian: 'dante-server', for: 'SOCKS5 proxies' },
  {
    command: 'kubectl',
    probe: ['version', '--client'],
    debian: 'kubernetes-client',
    for: 'logins by kubectl',
  },
  { command: 'softhsm2-util', probe: ['--version'], debian: 'softhsm2', for: 'PKCS#11 tokens' },
  { command: 'opensc-tool', probe: ['--version'], debian: 'opensc', for: 'PKCS#11 tokens' },
  { command: 'chromium', probe: ['--version'], debian: 'chromium', for: 'the page' },
  { command: 'swtpm', probe: ['--version'], debian: 'swtpm', for: 'TPMs' },
  {
    command: 'tpm2_ptool',
    probe: ['--help'],
    debian: 'libtpm2-pkcs11-tools',
    for: 'TPMs',
  },
]
/** With more files than this, something is broken and not only in a hurry. */
const MOST_SECOND_TRIES = 3
/** Options of vitest whose value is an argument of its own, and no filter. */
const WITH_VALUE = ['-t', '--testNamePattern', '--reporter', '--outputFile']

const args = process.argv.slice(2)
const mustHave = process.env.CI === 'true' || process.env.KUBECRED_INSTALL === '1'
for (const { command, probe, debian, for: what } of PACKAGES) {
  if (isThere(command, probe)) continue
  const remedy = `apt-get install ${debian}`
  if (!mustHave) {
    process.stderr.write(`skipped: the tests of ${what} need ${command}. To run them: ${remedy}\n`)
    continue
  }
  spawnSync('apt-get', ['update'], { stdio: 'ignore' })
  spawnSync('apt-get', ['install', '-y', debian], { stdio: ['ignore', 2, 2] })
  if (!isThere(command, probe))
    fail(`the tests of ${what} need ${command}, and "${remedy}" did not bring it`)
}

const oldKubectl = findDebianKubectl({ mayInstall: mustHave })
if (oldKubectl.problem !== undefined) {
  const what = `the tests with an old kubectl cannot run: ${oldKubectl.problem}`
  if (mustHave) fail(what)
  process.stderr.write(`skipped: ${what}. To run them: node tools/debian-kubectl.mjs\n`)
}

// A part of the path is enough to name a file, as vitest has it.
const filters = args.filter((arg, at) => !arg.startsWith('-') && !WITH_VALUE.includes(args[at - 1]))
const options = args.filter((arg) => !filters.includes(arg))
const forNewer = isNewEnough() ? [] : newerTests()
const newer = forNewer.length === 0 ? {} : findNewerNode({ mayInstall: mustHave })
if (newer.problem !== undefined) {
  const what = `the tests in ${FOLDER} cannot run: ${newer.problem}`
  if (mustHave) fail(what)
  process.stderr.write(`skipped: ${what}. To run them: KUBECRED_INSTALL=1 npm test\n`)
}

// A filter may mean tests of the second run alone: then the first has none, and that is no failure.
const mayBeEmpty = filters.length > 0 && forNewer.length > 0 ? ['--passWithNoTests'] : []
const unstable = []
const problems = runVitest(process.execPath, [...args, ...mayBeEmpty])
if (newer.path !== undefined) {
  process.stdout.write(`\nWith Node ${newer.version}, what needs a newer one: ${FOLDER}\n`)
  const more = [...forNewer, ...options, '--typecheck.enabled=false']
  problems.push(...runVitest(newer.path, more))
}
// Once more at the very end: a long output is often cut, and what failed first is far up.
for (const [title, list] of [
  [
    'UNSTABLE: failed beside the others, passed alone. A race, in the test or in what it tests',
    unstable,
  ],
  ['FAILED', problems],
]) {
  if (list.length > 0) process.stderr.write(`\n${title}\n${list.join('\n')}\n`)
}
process.exitCode = problems.length > 0 ? 1 : 0

/** Runs tests and returns what failed, in words. A few files that failed get a second try, alone. */
function runVitest(node, more) {
  const { isGood, failures } = runOnce(node, more)
  if (isGood) return []
  const files = [...new Set(failures.map(({ file }) => file))]
  const told = failures.map(({ text }) => text)
  if (files.length === 0) return ['vitest failed, and no test did: see above']
  if (files.length > MOST_SECOND_TRIES) return told
  process.stdout.write(`\nOnce more, alone: ${files.join(' ')}\n`)
  const alone = runOnce(node, [...files, ...options, '--no-file-parallelism'])
  if (!alone.isGood) return told
  unstable.push(...told)
  return []
}

function runOnce(node, more) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const all = ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...more]
  const isGood = spawnSync(node, all, { stdio: 'inherit' }).status === 0
  const failures = isGood ? [] : failuresIn(report)
  rmSync(folder, { recursive: true, force: true })
  return { isGood, failures }
}

function failuresIn(report) {
  if (!existsSync(report)) return []
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name)
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0)
      return status === 'failed' ? [{ file, text: `${file}\n  ${message}` }] : []
    return failed.map(({ fullName, failureMessages }) => ({
      file,
      text: `${file}\n  ${fullName}\n  ${failureMessages.join('\n  ')}`,
    }))
  })
}

/** The tests that this Node is too old for and the filters mean. */
function newerTests() {
  return readdirSync(FOLDER)
    .map((name) => `${FOLDER}/${name}`)
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)))
}

function isThere(command, probe) {
  return spawnSync(command, probe, { stdio: 'ignore' }).status === 0
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
