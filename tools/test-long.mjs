// `npm run test:long`: runs the slow tests (test/long.ts has the reason for each), and, with a newer Node, the tests of
// packages that need one. Arguments are passed to vitest.
import { provideExtraPackages } from './extra-packages.mjs'
import { FOLDER, findNewerNode } from './newer-node.mjs'
import { runVitest } from './run-vitest.mjs'
import { mayInstall, provideSystemPackages } from './system-packages.mjs'

const CONFIG = ['--config', 'vitest.long.config.ts']
const given = process.argv.slice(2)
const meansNewer = given.some((arg) => arg.includes(FOLDER))

provideSystemPackages()
const hasPackages = provideExtraPackages({ mayInstall }) || !mayInstall
if (!hasPackages)
  process.stderr.write('npm could not install the packages in tools/extra-packages.mjs\n')
const here = meansNewer || runVitest([...CONFIG, ...given, '--exclude', `${FOLDER}/**`])
// Not after a failure, so that the last lines of output are about the failure.
const newer = here && (given.length === 0 || meansNewer) ? testNewer() : true
process.exitCode = here && newer && hasPackages ? 0 : 1

function testNewer() {
  const { path, version, problem } = findNewerNode({ mayInstall })
  if (path !== undefined) {
    process.stdout.write(`\nWith Node ${version}: ${FOLDER}\n`)
    return runVitest([...CONFIG, ...(meansNewer ? given : [FOLDER])], { node: path })
  }
  const remedy = 'KUBECRED_INSTALL=1 npm run test:long'
  process.stderr.write(`skipped: the tests in ${FOLDER}: ${problem}. To run them: ${remedy}\n`)
  return !mayInstall
}
