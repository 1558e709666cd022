// The programs that tests use in addition to Node. Tests of missing programs are skipped with a reason; with CI=true or
// KUBECRED_INSTALL=1 missing programs are installed first, if possible.
import { findApt, runs } from './apt.mjs'
import { findDebianKubectl } from './debian-kubectl.mjs'

/** The programs, and the packages of Debian that have them. */
export const PACKAGES = [
  { command: 'openssl', probe: ['version'], debian: 'openssl', for: 'TLS alerts' },
  { command: 'gnutls-serv', probe: ['--version'], debian: 'gnutls-bin', for: 'TLS with GnuTLS' },
  // Packages without the system service, if there are such: the service is not needed.
  { command: 'tinyproxy', probe: ['-v'], debian: 'tinyproxy-bin', for: 'HTTP proxies' },
  { command: 'danted', probe: ['-v'], debian: 'dante-server', for: 'SOCKS5 proxies' },
  { command: 'script', probe: ['--version'], debian: 'bsdutils', for: 'terminals' },
  { command: 'bash', probe: ['--version'], debian: 'bash', for: 'completion' },
  { command: 'zsh', probe: ['--version'], debian: 'zsh', for: 'login shells' },
  { command: 'fish', probe: ['--version'], debian: 'fish', for: 'login shells' },
  { command: 'tcsh', probe: ['--version'], debian: 'tcsh', for: 'login shells' },
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
  { command: 'buildah', probe: ['--version'], debian: 'buildah', for: 'the image' },
  { command: 'swtpm', probe: ['--version'], debian: 'swtpm', for: 'TPMs' },
  { command: 'tpm2_ptool', probe: ['--help'], debian: 'libtpm2-pkcs11-tools', for: 'TPMs' },
]

/** Whether missing programs should be installed. */
export const mayInstall = process.env.CI === 'true' || process.env.KUBECRED_INSTALL === '1'

/**
 * Installs missing programs, or reports which tests are skipped. Exits if an installation fails.
 *
 * The packages are Debian's. A distribution made from it, such as Ubuntu on hosted runners, may lack some of them; macOS and
 * Windows lack all. What cannot be installed there is skipped with a reason. On Debian it is a failure.
 *
 * @param {{ isRoot?: boolean, osRelease?: string, cache?: string }} [machine] For tests: another machine than this one.
 */
export function provideSystemPackages(machine) {
  const apt = mayInstall ? findApt(machine) : {}
  const missing = PACKAGES.filter(({ command, probe }) => !runs(command, probe))
  const isUpdated = missing.length > 0 && apt.run?.('update', '-q')
  for (const each of missing) provide(each, apt, isUpdated)
  provideOldKubectl(apt, machine?.cache)
}

function provide({ command, probe, debian, for: what }, apt, isUpdated) {
  const need = `the tests of ${what} need ${command}`
  if (apt.run === undefined) {
    const reason = apt.problem === undefined ? '' : ` (${apt.problem})`
    skip(`${need}${reason}`, `apt-get install ${debian}`)
    return
  }
  if (!apt.isDebian && isUpdated && !apt.knows(debian)) {
    skip(`${need} (this distribution has no package ${debian})`, `install ${command}`)
    return
  }
  apt.run('install', '-y', debian)
  if (!runs(command, probe)) fail(`${need}, which apt-get install ${debian} did not install`)
}

function provideOldKubectl(apt, cache) {
  const found = findDebianKubectl({ mayInstall: apt.run !== undefined, apt, cache })
  if (found.problem === undefined) return
  const what = `the tests with an old kubectl cannot run: ${found.problem}`
  if (apt.isDebian) fail(what)
  skip(what, 'node tools/debian-kubectl.mjs')
}

function skip(what, remedy) {
  process.stderr.write(`skipped: ${what}. To run them: ${remedy}\n`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
