import { type ApiVersion, GROUP } from '../../kubeconfig/exec-config.ts'
import type { ClusterOverrides } from '../../kubeconfig/overrides.ts'
import { EXEC_CLUSTER, encodeExecInfo, type HasExecCluster, type PluginInfo } from '../exec-info.ts'
import { checkCluster, requireCluster } from './plugin-cluster.ts'

/** Options of `connect()` that describe a cluster, without a credential. */
export interface ClusterOptions extends Omit<ClusterOverrides, 'certificateAuthority'> {
  /** Empty: a kubeconfig would run this plugin again. */
  readonly kubeconfig: readonly []
}

/**
 * Returns options of `connect()` for the cluster that the credential is for: its address, CA, server name and proxy.
 *
 * No kubeconfig is read, because it would run this plugin again. The connection is anonymous; add a `token` or a client
 * certificate if the plugin has one of its own. The proxy URL can contain a password.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` if the client did not describe the cluster, or if the description is invalid.
 *
 * @example
 * const cluster = await connect({ ...connectOptions(await readExecInfo()), token: bootstrapToken })
 */
export function connectOptions(info: PluginInfo): ClusterOptions {
  const cluster = requireCluster(info)
  const { name, certificateAuthority, execExtension, proxyUrl, ...fields } = checkCluster(cluster)
  return {
    ...fields,
    kubeconfig: [],
    certificateAuthorityData: cluster.certificateAuthorityData,
    proxyUrl: proxyUrl?.expose(),
  }
}

/** The argument of `loadFromOptions()` of client-node's `KubeConfig`. */
export interface ClientNodeOptions {
  clusters: {
    name: string
    server: string
    skipTLSVerify: boolean
    /** Base64 of PEM. */
    caData?: string
    tlsServerName?: string
    /** Can contain a password. */
    proxyUrl?: string
  }[]
  users: { name: string; token?: string; certData?: string; keyData?: string }[]
  contexts: { name: string; cluster: string; user: string }[]
  currentContext: string
}

const NAME = 'plugin'

/**
 * Returns options of @kubernetes/client-node for the cluster that the credential is for.
 *
 * The user is anonymous, because the plugin does not have a credential yet. client-node has no option for
 * `disable-compression`.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` if the client did not describe the cluster, or if the description is invalid.
 *
 * @example
 * const kubeConfig = new KubeConfig()
 * kubeConfig.loadFromOptions(clientNodeOptions(await readExecInfo()))
 */
export function clientNodeOptions(info: PluginInfo): ClientNodeOptions {
  const cluster = requireCluster(info)
  const { certificateAuthorityData: pem } = cluster
  const { server, tlsServerName, insecureSkipTlsVerify, proxyUrl } = checkCluster(cluster)
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

/** Options of `execInfo()`. */
export interface ExecInfoOptions {
  /** `client.authentication.k8s.io/v1` by default. v1alpha1 has no cluster. */
  readonly apiVersion?: ApiVersion | undefined
  /** Whether the plugin may prompt the user; false by default. If true, its standard input must be the terminal. */
  readonly interactive?: boolean | undefined
}

/**
 * Returns the value of `KUBERNETES_EXEC_INFO` for running another credential plugin for the cluster of a connection.
 *
 * It has what `provideClusterInfo: true` gives a plugin: address, CA, server name, the proxy of the kubeconfig with its
 * password, and the extension for plugins; never a credential.
 *
 * @throws {TypeError} If the argument is not a `Cluster`.
 *
 * @example
 * const cluster = await connect()
 * execFile('other-plugin', { env: { ...process.env, KUBERNETES_EXEC_INFO: execInfo(cluster) } })
 */
export function execInfo(
  cluster: HasExecCluster,
  { apiVersion = `${GROUP}/v1`, interactive = false }: ExecInfoOptions = {},
): string {
  const described = (cluster as HasExecCluster | null | undefined)?.[EXEC_CLUSTER]
  if (described === undefined) {
    throw new TypeError(
      'execInfo() takes the Cluster that connect() resolves to: did you forget to await connect()?',
    )
  }
  return encodeExecInfo({ apiVersion, interactive, cluster: described })
}
