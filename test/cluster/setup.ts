import type { TestProject } from 'vitest/node'
import type { ClusterFacts } from './harness/cluster-facts.ts'
import { prepare } from './harness/prepare.ts'
import { readPrograms } from './harness/read-programs.ts'
import { startCluster } from './harness/start-cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The cluster that all test files share. */
    readonly cluster: ClusterFacts
  }
}

/** Starts the cluster that most tests share. Tests that break a cluster start their own. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const begun = Date.now()
  const cluster = await startCluster(readPrograms(), { kwok: true })
  try {
    await prepare(cluster.facts)
  } catch (error) {
    await cluster.close()
    throw error
  }
  process.stderr.write(`the cluster is ready after ${Date.now() - begun} ms\n`)
  provide('cluster', cluster.facts)
  return () => cluster.close()
}
