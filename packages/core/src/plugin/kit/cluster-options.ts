import { type ApiVersion, GROUP } from '../../kubeconfig/exec-config.ts'
import type { ClusterOverrides } from '../../kubeconfig/overrides.ts'
import { EXEC_CLUSTER, encodeExecInfo, type HasExecCluster, type PluginInfo } from '../exec-info.ts'
import { checkCluster, knownCluster } from './plugin-cluster.ts'

/** Options of `connect()` that say all about a cluster, and nothing about who to be. */
export interface ClusterOptions extends Omit<ClusterOverrides, 'certificateAuthority'> {
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
  const { name, certificateAuthority, execExtension, proxyUrl, ...fields } = checkCluster(told)
  return {
    ...fields,
    kubeconfig: [],
    certificateAuthorityData: told.certificateAuthorityData,
    proxyUrl: proxyUrl?.expose(),
  }
}

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

export interface ExecInfoOptions {
  /** `client.authentication.k8s.io/v1` by default. v1alpha1 says nothing of the cluster. */
  readonly apiVersion?: ApiVersion | undefined
  /** Whether the plugin may ask a person; false by default. Then it must get the terminal as its standard input. */
  readonly interactive?: boolean | undefined
}

/**
 * Writes `KUBERNETES_EXEC_INFO` for a credential plugin that is to make a credential for the cluster of a connection.
 *
 * It says what the engine tells a plugin with `provideClusterInfo: true`: address, CA, server name, the proxy of the
 * kubeconfig with its password, and the extension for plugins; never a credential.
 *
 * @throws {TypeError} When it is not given a `Cluster`, as `connect()` resolves to.
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
      'execInfo() takes a Cluster, as connect() resolves to: did you forget to await connect()?',
    )
  }
  return encodeExecInfo({ apiVersion, interactive, cluster: described })
}
