import type { Overrides } from '../kubeconfig/overrides.ts'
import type { PluginInfo } from '../protocol/decode-exec-info.ts'
import { checkCluster, knownCluster } from './known-cluster.ts'

/** Options of `connect()` that say all about a cluster, and nothing about who to be. */
export interface ClusterOptions
  extends Pick<
    Overrides,
    | 'server'
    | 'tlsServerName'
    | 'insecureSkipTlsVerify'
    | 'certificateAuthorityData'
    | 'proxyUrl'
    | 'disableCompression'
  > {
  /** None: it would name the plugin itself. */
  readonly kubeconfig: readonly []
}

/**
 * Makes options for `connect()` of the cluster that a plugin is asked for: its address, CA, server name and proxy.
 *
 * No kubeconfig is read, which would name the plugin itself. The connection is anonymous, since the plugin is still to
 * make a credential; add a `token` or a client certificate where it has one of its own. The proxy may carry a password.
 *
 * @throws {ExecInfoError} When the client said nothing of the cluster, or nothing that can be used.
 *
 * @example
 * const cluster = await connect({ ...connectOptions(await readExecInfo()), token: bootstrapToken })
 */
export function connectOptions(info: PluginInfo): ClusterOptions {
  const told = knownCluster(info)
  const { server, tlsServerName, insecureSkipTlsVerify, proxyUrl, disableCompression } =
    checkCluster(told)
  return {
    kubeconfig: [],
    server,
    tlsServerName,
    insecureSkipTlsVerify,
    certificateAuthorityData: told.certificateAuthorityData,
    proxyUrl: proxyUrl?.expose(),
    disableCompression,
  }
}
