// The test command: the fast suite. What npm can install, tools/bootstrap.mjs has installed; this adds system packages,
// and a newer Node for the few tests that need one. What is missing is skipped with its reason. With CI=true or
// KUBECRED_INSTALL=1 it is installed first, and what cannot be had is a failure.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { findDebianKubectl } from './debian-kubectl.mjs'
import { FOLDER, findNewerNode, isNewEnough } from './newer-node.mjs'
import { TestRuns } from './test-runs.mjs'

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
const runs = new TestRuns()
runs.run(process.execPath, [...args, ...mayBeEmpty], { options })
if (newer.path !== undefined) {
  process.stdout.write(`\nWith Node ${newer.version}, what needs a newer one: ${FOLDER}\n`)
  const own = [...options, '--typecheck.enabled=false']
  runs.run(newer.path, [...forNewer, ...own], { options: own })
}
process.exitCode = runs.report()

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
