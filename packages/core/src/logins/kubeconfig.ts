import { resolve } from 'node:path'
import { KubeconfigEmptyError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import type { Material } from '../kubeconfig/connection.ts'
import type { Overrides } from '../kubeconfig/overrides.ts'
import { hostEnvironment } from '../node/environment.ts'
import { loadConnection, loadPodConnection } from '../node/load-kubeconfig.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import { infoOf, type LoginMethodContext, type LoginMethodOptions } from './login-method.ts'

export interface KubeconfigLoginOptions extends Overrides, LoginMethodOptions {
  /** Explicit files, which must exist; by default KUBECONFIG or `~/.kube/config`. */
  readonly kubeconfig?: string | readonly string[] | undefined
  readonly env?: Environment | undefined
  /** 10 by default. */
  readonly priority?: number | undefined
}

/**
 * Logs in as the kubeconfig says: plugins, OpenID Connect, files and everything else that `connect()` reads.
 *
 * @returns Undefined when there is no kubeconfig, or none that names a cluster.
 */
export async function loginWithKubeconfig(
  context: LoginMethodContext,
  {
    priority = 10,
    trustEnv,
    kubeconfig,
    env = hostEnvironment(),
    ...overrides
  }: KubeconfigLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  context.signal.throwIfAborted()
  // The service account of the pod is another login's business.
  const { KUBERNETES_SERVICE_HOST: _, ...elsewhere } = env
  try {
    const connection = await loadConnection({ kubeconfig, env: elsewhere, overrides })
    return infoOf(connection, context, { priority, trustEnv })
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}

export interface ServiceAccountLoginOptions extends LoginMethodOptions {
  readonly env?: Environment | undefined
  /** Where the account is mounted; by default Kubernetes's own place. */
  readonly folder?: string | undefined
  /** 20 by default. */
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
  context: LoginMethodContext,
  { priority = 20, trustEnv, folder, env = hostEnvironment() }: ServiceAccountLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  context.signal.throwIfAborted()
  const connection = await loadPodConnection({ env: inPod(env), serviceAccountFolder: folder })
  return connection && infoOf(connection, context, { priority, trustEnv })
}

export interface PodCertificateLoginOptions extends LoginMethodOptions {
  /** The credential bundle of the projected volume: private key and certificate chain in one file. */
  readonly path: string
  /** By default the `ca.crt` of the service account, which a pod without its token may lack. */
  readonly caPath?: string | undefined
  readonly env?: Environment | undefined
  /** Where the service account is mounted, for its CA and namespace; by default Kubernetes's own place. */
  readonly folder?: string | undefined
  /** 30 by default. */
  readonly priority?: number | undefined
}

/**
 * Logs in with the certificate that a projected volume of type `podCertificate` keeps in the pod.
 *
 * The bundle is read in one go, so that key and chain always belong together, and again when the kubelet replaces it.
 * The server is the one of the environment, else `kubernetes.default.svc`.
 *
 * @returns Undefined when there is no such file.
 */
export async function loginWithPodCertificate(
  context: LoginMethodContext,
  {
    path,
    caPath,
    priority = 30,
    trustEnv,
    folder,
    env = hostEnvironment(),
  }: PodCertificateLoginOptions,
): Promise<ConnectionInfo | undefined> {
  context.signal.throwIfAborted()
  const connection = await loadPodConnection({
    env: inPod(env),
    serviceAccountFolder: folder,
    credentialBundle: resolve(path),
  })
  if (connection === undefined) return undefined
  const certificateAuthority: Material | undefined =
    caPath === undefined ? undefined : { from: 'file', path: resolve(caPath), field: 'caPath' }
  const own =
    certificateAuthority === undefined
      ? connection
      : { ...connection, warnings: [], cluster: { ...connection.cluster, certificateAuthority } }
  return infoOf(own, context, { priority, trustEnv })
}

/** The environment of a pod, also where its service links are turned off. */
function inPod(env: Environment): Environment {
  return {
    ...env,
    KUBERNETES_SERVICE_HOST: env['KUBERNETES_SERVICE_HOST'] || 'kubernetes.default.svc',
    KUBERNETES_SERVICE_PORT: env['KUBERNETES_SERVICE_PORT'] || '443',
  }
}
