// `node tools/cluster/build.mjs`: builds the programs of the cluster suite and prints their paths as JSON.
import { findPrograms } from './find-programs.mjs'

try {
  const found = await findPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
} catch (error) {
  process.stderr.write(`cluster: ${error.message}\n`)
  process.exitCode = 1
}
