// `node tools/cluster/build.mjs`: makes the programs of the cluster suite ready and prints where they are, as JSON.
import { findPrograms } from './find-programs.mjs'

try {
  const found = await findPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
} catch (error) {
  process.stderr.write(`cluster: ${error.message}\n`)
  process.exitCode = 1
}
