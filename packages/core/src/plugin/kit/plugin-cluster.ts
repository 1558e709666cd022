import { ExecInfoError } from '../../errors/index.ts'
import { clusterTarget } from '../../kubeconfig/build-connection.ts'
import type { ClusterTarget } from '../../kubeconfig/connection.ts'
import { NO_CLUSTER, NO_USER } from '../../kubeconfig/kubeconfig.ts'
import { clusterProblems } from '../../kubeconfig/validate.ts'
import type { PluginCluster, PluginInfo } from '../exec-info.ts'

/**
 * Returns the cluster that the credential is for.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` if the client did not describe it.
 */
export function requireCluster({ cluster, apiVersion }: PluginInfo): PluginCluster {
  if (cluster !== undefined) return cluster
  throw new ExecInfoError('spec.cluster', 'is missing: the client did not describe its cluster', {
    hint: apiVersion.endsWith('v1alpha1')
      ? 'Set apiVersion: client.authentication.k8s.io/v1 and provideClusterInfo: true in the exec stanza of the kubeconfig.'
      : 'Set provideClusterInfo: true in the exec stanza of the kubeconfig.',
  })
}

/**
 * Validates a cluster by the rules of a kubeconfig cluster entry, which has the same fields.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` with all problems.
 */
export function checkCluster(cluster: PluginCluster): ClusterTarget {
  const { config: _, ...fields } = cluster
  const entry = { ...NO_CLUSTER, ...fields, name: 'spec.cluster' }
  const problems = clusterProblems(entry)
  if (problems.length > 0) {
    throw new ExecInfoError(
      'spec.cluster',
      problems.map(({ what }) => what.replace(/^cluster "spec\.cluster" /, '')).join('; '),
      {
        hint: [...new Set(problems.map(({ remedy }) => remedy))].join(' '),
      },
    )
  }
  return clusterTarget(entry, NO_USER)
}
