import { KubeconfigEmptyError } from '../errors/index.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import type { Overrides } from '../kubeconfig/overrides.ts'
import { hostEnvironment } from '../node/host-environment.ts'
import { loadConnection, loadPodConnection } from '../node/load-kubeconfig.ts'
import { ConnectionInfo } from '../vault/connection-info.ts'
import type { LoginContext } from '../vault/login-handler.ts'

/** What of a handler's context the ready-made logins look at. */
type Context = Pick<LoginContext, 'signal'>

export interface KubeconfigLoginOptions extends Overrides {
  /** Explicit files, which must exist; KUBECONFIG or `~/.kube/config` unless given. */
  readonly kubeconfig?: string | readonly string[] | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** 10 unless told. */
  readonly priority?: number | undefined
}

/**
 * Logs in as the kubeconfig says: plugins, OpenID Connect, files and everything else that `connect()` reads.
 *
 * @returns Undefined when there is no kubeconfig, or none that names a cluster.
 */
export async function loginWithKubeconfig(
  { signal }: Context,
  { priority = 10, kubeconfig, env = hostEnvironment(), ...overrides }: KubeconfigLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  signal.throwIfAborted()
  // The service account of the pod is another login's business.
  const { KUBERNETES_SERVICE_HOST: _, ...elsewhere } = env
  try {
    return infoOf(await loadConnection({ kubeconfig, env: elsewhere, overrides }), priority)
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}

export interface ServiceAccountLoginOptions {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Where the account is mounted; Kubernetes's own place unless told. */
  readonly folder?: string | undefined
  /** 20 unless told. */
  readonly priority?: number | undefined
}

/**
 * Logs in as the service account of the pod we run in. Its token and CA are read again when they change.
 *
 * The server is the one of the environment, else `kubernetes.default.svc`.
 *
 * @returns Undefined when no service account is mounted.
 */
export async function loginWithServiceAccount(
  { signal }: Context,
  { priority = 20, folder, env = hostEnvironment() }: ServiceAccountLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  signal.throwIfAborted()
  const here = {
    KUBERNETES_SERVICE_HOST: 'kubernetes.default.svc',
    KUBERNETES_SERVICE_PORT: '443',
    ...env,
  }
  const connection = await loadPodConnection({ env: here, serviceAccountFolder: folder })
  return connection && infoOf(connection, priority)
}

function infoOf(connection: Connection, priority: number): ConnectionInfo {
  return new ConnectionInfo({
    connection,
    priority,
    expiresAt: Number.POSITIVE_INFINITY,
    trustEnv: true,
    scheme: undefined,
  })
}
