import { GROUP } from '../protocol/exec-config.ts'
import type { ClusterTarget, Material } from './connection.ts'
import type { ClusterEntry, UserEntry } from './kubeconfig.ts'
import { normalizeServer } from './server-url.ts'
import { hasAnyMethod } from './user-methods.ts'
import { withoutUndefined } from './without-undefined.ts'

/** Converts a checked cluster entry. What plugins may see of it is copied, so that no two connections share it. */
export function clusterTarget(cluster: ClusterEntry, user: UserEntry): ClusterTarget {
  return withoutUndefined<ClusterTarget>({
    name: cluster.name || undefined,
    server: normalizeServer(cluster.server ?? '', assumedScheme(cluster, user)),
    tlsServerName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    certificateAuthority: material(cluster.certificateAuthority, cluster.certificateAuthorityData),
    proxyUrl: cluster.proxyUrl,
    disableCompression: cluster.disableCompression,
    execExtension: copyOf(cluster.extensions.get(`${GROUP}/exec`)),
  })
}

/** `structuredClone` takes its time, also for nothing. */
function copyOf(extension: unknown): unknown {
  return extension === undefined || extension === null ? undefined : structuredClone(extension)
}

/** Chooses between a path and inline data, of which validation left at most one. */
export function material<D>(
  path: string | undefined,
  data: D | undefined,
): Material<D> | undefined {
  if (path !== undefined) return { from: 'file', path }
  return data === undefined ? undefined : { from: 'data', data }
}

/** An address without a scheme means https as soon as anything needs it; client-go drops the credentials instead. */
function assumedScheme(cluster: ClusterEntry, user: UserEntry): 'http' | 'https' {
  const needsTls =
    cluster.insecureSkipTlsVerify ||
    cluster.certificateAuthority !== undefined ||
    cluster.certificateAuthorityData !== undefined ||
    hasAnyMethod(user)
  return needsTls ? 'https' : 'http'
}
