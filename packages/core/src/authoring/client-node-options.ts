import type { PluginInfo } from '../protocol/decode-exec-info.ts'
import { checkCluster, knownCluster } from './known-cluster.ts'

/** What `loadFromOptions()` of client-node's `KubeConfig` takes. */
export interface ClientNodeOptions {
  clusters: {
    name: string
    server: string
    skipTLSVerify: boolean
    /** Base64 of PEM. */
    caData?: string
    tlsServerName?: string
    /** May carry a password. */
    proxyUrl?: string
  }[]
  users: { name: string; token?: string; certData?: string; keyData?: string }[]
  contexts: { name: string; cluster: string; user: string }[]
  currentContext: string
}

const NAME = 'plugin'

/**
 * Describes the cluster that a plugin is asked for to @kubernetes/client-node, as plain data.
 *
 * Its user is anonymous, since the plugin is still to make a credential. client-node has no switch for compression.
 *
 * @throws {ExecInfoError} When the client said nothing of the cluster, or nothing that can be used.
 *
 * @example
 * const kubeConfig = new KubeConfig()
 * kubeConfig.loadFromOptions(clientNodeOptions(await readExecInfo()))
 */
export function clientNodeOptions(info: PluginInfo): ClientNodeOptions {
  const told = knownCluster(info)
  const { certificateAuthorityData: pem } = told
  const { server, tlsServerName, insecureSkipTlsVerify, proxyUrl } = checkCluster(told)
  return {
    clusters: [
      {
        name: NAME,
        server,
        skipTLSVerify: insecureSkipTlsVerify,
        ...(pem !== undefined && { caData: Buffer.from(pem).toString('base64') }),
        ...(tlsServerName !== undefined && { tlsServerName }),
        ...(proxyUrl !== undefined && { proxyUrl: proxyUrl.expose() }),
      },
    ],
    users: [{ name: NAME }],
    contexts: [{ name: NAME, cluster: NAME, user: NAME }],
    currentContext: NAME,
  }
}
