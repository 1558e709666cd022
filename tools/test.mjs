// The test command: the fast suite. What npm can install, tools/bootstrap.mjs has installed; this adds system packages.
// A suite whose system package is missing is skipped with its reason. With CI=true or KUBECRED_INSTALL=1 the package is
// installed first, and a package that cannot be had is a failure.
import { spawnSync } from 'node:child_process'

const PACKAGES = [
  { command: 'openssl', probe: ['version'], debian: 'openssl', for: 'TLS alerts' },
  // The programs without the service where there is such a package: nothing has to be started.
  { command: 'tinyproxy', probe: ['-v'], debian: 'tinyproxy-bin', for: 'HTTP proxies' },
  { command: 'danted', probe: ['-v'], debian: 'dante-server', for: 'SOCKS5 proxies' },
]

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
  if (!isThere(command, probe)) {
    process.stderr.write(`the tests of ${what} need ${command}, and "${remedy}" did not bring it\n`)
    process.exit(1)
  }
}

const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1

function isThere(command, probe) {
  return spawnSync(command, probe, { stdio: 'ignore' }).status === 0
}
