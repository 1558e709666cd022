import type { ClusterTarget } from '../kubeconfig/connection.ts'
import type { ExecCluster } from '../protocol/encode-exec-info.ts'

/** What the plugin is told about the cluster: everything after selection and overrides. */
export function execCluster(cluster: ClusterTarget, caPem: string | undefined): ExecCluster {
  return {
    server: cluster.server,
    tlsServerName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    certificateAuthorityData:
      caPem === undefined ? undefined : Buffer.from(caPem).toString('base64'),
    proxyUrl: cluster.proxyUrl?.expose(),
    disableCompression: cluster.disableCompression,
    config: cluster.execExtension,
  }
}
