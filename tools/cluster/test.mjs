// `npm run test:cluster`: the suite against a real etcd, kube-apiserver, kubectl and kwok. Arguments go to vitest.
import { runVitest } from '../run-vitest.mjs'
import { findPrograms } from './find-programs.mjs'

// An interrupt from the terminal also reaches vitest, which stops the cluster.
process.on('SIGINT', () => {})
try {
  const programs = await findPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
  const args = ['--config', 'vitest.cluster.config.ts', ...process.argv.slice(2)]
  const env = { KUBECRED_CLUSTER_PROGRAMS: JSON.stringify(programs) }
  process.exitCode = runVitest(args, { env }) ? 0 : 1
} catch (error) {
  process.stderr.write(`cluster: ${error.message}\n`)
  process.exitCode = 1
}
