// `npm run test:cluster`: the suite against a real etcd, kube-apiserver, kubectl and kwok. Arguments go to vitest.
import { TestRuns } from '../test-runs.mjs'
import { findPrograms } from './find-programs.mjs'

// An interrupt from the terminal reaches vitest itself, which ends the cluster.
process.on('SIGINT', () => {})
try {
  const programs = await findPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
  const options = ['--config', 'vitest.cluster.config.ts']
  const env = { KUBECRED_CLUSTER_PROGRAMS: JSON.stringify(programs) }
  const runs = new TestRuns()
  runs.run(process.execPath, [...options, ...process.argv.slice(2)], { options, env })
  process.exitCode = runs.report()
} catch (error) {
  process.stderr.write(`cluster: ${error.message}\n`)
  process.exitCode = 1
}
