// `npm run test:long`: the tests that take long (test/long.ts says why each of them does), and those of packages that need
// a newer Node than we do. Arguments go to vitest.
import { FOLDER, findNewerNode } from './newer-node.mjs'
import { runVitest } from './run-vitest.mjs'
import { mayInstall, provideSystemPackages } from './system-packages.mjs'

const args = ['--config', 'vitest.long.config.ts', ...process.argv.slice(2)]
provideSystemPackages()
const newer = findNewerNode({ mayInstall })
// A filter may mean tests of the second run alone: then the first has none, and that is no failure.
const mayBeEmpty = process.argv.length > 2 ? ['--passWithNoTests'] : []
const results = [runVitest([...args, ...mayBeEmpty, '--exclude', `${FOLDER}/**`])]
if (newer.path !== undefined) {
  process.stdout.write(`\nWith Node ${newer.version}: ${FOLDER}\n`)
  results.push(runVitest([...args, ...mayBeEmpty, '--dir', FOLDER], { node: newer.path }))
} else if (mayInstall) {
  process.stderr.write(`the tests in ${FOLDER} cannot run: ${newer.problem}\n`)
  results.push(false)
} else {
  const remedy = 'KUBECRED_INSTALL=1 npm run test:long'
  process.stderr.write(
    `skipped: the tests in ${FOLDER}: ${newer.problem}. To run them: ${remedy}\n`,
  )
}
process.exitCode = results.every(Boolean) ? 0 : 1
