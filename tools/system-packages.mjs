// The programs that tests use in addition to Node. Tests of missing programs are skipped with a reason; with CI=true or
// KUBECRED_INSTALL=1 missing programs are installed first, if possible.
import { spawnSync } from 'node:child_process'
import { findDebianKubectl } from './debian-kubectl.mjs'

const PACKAGES = [
  { command: 'openssl', probe: ['version'], debian: 'openssl', for: 'TLS alerts' },
  { command: 'gnutls-serv', probe: ['--version'], debian: 'gnutls-bin', for: 'TLS with GnuTLS' },
  // Packages without the system service, if there are such: the service is not needed.
  { command: 'tinyproxy', probe: ['-v'], debian: 'tinyproxy-bin', for: 'HTTP proxies' },
  { command: 'danted', probe: ['-v'], debian: 'dante-server', for: 'SOCKS5 proxies' },
  { command: 'script', probe: ['--version'], debian: 'bsdutils', for: 'terminals' },
  { command: 'bash', probe: ['--version'], debian: 'bash', for: 'completion' },
  { command: 'curl', probe: ['--version'], debian: 'curl', for: 'curl behind kubecred run' },
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
  { command: 'tpm2_ptool', probe: ['--help'], debian: 'libtpm2-pkcs11-tools', for: 'TPMs' },
]

/** Whether missing programs should be installed. */
export const mayInstall = process.env.CI === 'true' || process.env.KUBECRED_INSTALL === '1'

/** Installs missing programs, or reports which tests are skipped. Exits if an installation fails. */
export function provideSystemPackages() {
  const apt = mayInstall ? findApt() : undefined
  const missing = PACKAGES.filter(({ command, probe }) => !runs(command, probe))
  if (missing.length > 0) apt?.run?.('update', '-q')
  for (const { command, probe, debian, for: what } of missing) {
    if (apt?.run === undefined) {
      const reason = apt?.problem === undefined ? '' : ` (${apt.problem})`
      skip(`the tests of ${what} need ${command}${reason}`, `apt-get install ${debian}`)
      continue
    }
    apt.run('install', '-y', debian)
    if (!runs(command, probe)) {
      fail(`the tests of ${what} need ${command}, which apt-get install ${debian} did not install`)
    }
  }
  const oldKubectl = findDebianKubectl({ mayInstall: apt?.run !== undefined })
  if (oldKubectl.problem === undefined) return
  const what = `the tests with an old kubectl cannot run: ${oldKubectl.problem}`
  if (apt?.run !== undefined) fail(what)
  skip(what, 'node tools/debian-kubectl.mjs')
}

/** Returns the command that installs Debian packages, or why there is none. */
function findApt() {
  if (!runs('apt-get', ['--version'])) return { problem: 'apt-get is not available' }
  const isRoot = process.getuid?.() === 0
  if (!isRoot && !runs('sudo', ['-n', 'true'])) {
    return { problem: 'neither root nor sudo without a password' }
  }
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
  const [command, ...first] = isRoot ? env : ['sudo', '-n', ...env]
  const run = (...args) => spawnSync(command, [...first, ...args], { stdio: ['ignore', 2, 2] })
  return { run }
}

function runs(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function skip(what, remedy) {
  process.stderr.write(`skipped: ${what}. To run them: ${remedy}\n`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
