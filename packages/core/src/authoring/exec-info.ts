import { EXEC_CLUSTER, encodeExecInfo, type HasExecCluster } from '../protocol/encode-exec-info.ts'
import { type ApiVersion, GROUP } from '../protocol/exec-config.ts'

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
