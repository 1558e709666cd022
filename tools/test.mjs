// `npm test`: the fast suite, at most five minutes on two cores. Arguments are passed to vitest.
import { runVitest } from './run-vitest.mjs'
import { provideSystemPackages } from './system-packages.mjs'

provideSystemPackages()
process.exitCode = runVitest(process.argv.slice(2)) ? 0 : 1
