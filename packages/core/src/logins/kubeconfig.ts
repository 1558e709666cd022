import { resolve } from 'node:path'
import { KubeconfigEmptyError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import type { Material } from '../kubeconfig/connection.ts'
import type { KubeconfigOption } from '../kubeconfig/inline-kubeconfig.ts'
import type { Overrides } from '../kubeconfig/overrides.ts'
import { hostEnvironment } from '../node/environment.ts'
import { loadConnection, loadPodConnection } from '../node/load-kubeconfig.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import {
  type LoginMethodContext,
  type LoginMethodOptions,
  toConnectionInfo,
} from './login-method.ts'

/** Options of `loginWithKubeconfig()`. */
export interface KubeconfigLoginOptions extends Overrides, LoginMethodOptions {
  /**
   * Explicit files, which must exist, or a kubeconfig itself, as text or object, as in `connect()`; by default KUBECONFIG
   * or `~/.kube/config`. Files are read again at each login.
   */
  readonly kubeconfig?: KubeconfigOption | undefined
  readonly env?: Environment | undefined
  /** 10 by default. */
  readonly priority?: number | undefined
}

/**
 * Logs in with a kubeconfig: plugins, OpenID Connect, files and everything else that `connect()` supports.
 *
 * @returns Undefined if there is no kubeconfig, or none that names a cluster.
 * @throws {CredentialError} If the kubeconfig is invalid, or an explicit one does not exist.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin((context) => loginWithKubeconfig(context, { context: 'production' }), { id: 'kubeconfig' })
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
  // Without it the pod's service account is not used: that is loginWithServiceAccount().
  const { KUBERNETES_SERVICE_HOST: _, ...outsideOfPod } = env
  try {
    const connection = await loadConnection({ kubeconfig, env: outsideOfPod, overrides })
    return toConnectionInfo(connection, context, { priority, trustEnv })
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}

/** Options of `loginWithServiceAccount()`. */
export interface ServiceAccountLoginOptions extends LoginMethodOptions {
  readonly env?: Environment | undefined
  /** Where the account is mounted; by default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly folder?: string | undefined
  /** 20 by default. */
  readonly priority?: number | undefined
}

/**
 * Logs in as the service account of the pod. Its token and CA are read again when they change.
 *
 * The server comes from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, else it is `kubernetes.default.svc`.
 *
 * @returns Undefined if no service account is mounted.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin((context) => loginWithServiceAccount(context), { id: 'service-account' })
 */
export async function loginWithServiceAccount(
  context: LoginMethodContext,
  { priority = 20, trustEnv, folder, env = hostEnvironment() }: ServiceAccountLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  context.signal.throwIfAborted()
  const connection = await loadPodConnection({ env: inPod(env), serviceAccountFolder: folder })
  return connection && toConnectionInfo(connection, context, { priority, trustEnv })
}

/** Options of `loginWithPodCertificate()`. */
export interface PodCertificateLoginOptions extends LoginMethodOptions {
  /** The credential bundle of the projected volume: private key and certificate chain in one file. */
  readonly path: string
  /** By default the `ca.crt` of the service account, which a pod without a service account token may lack. */
  readonly caPath?: string | undefined
  readonly env?: Environment | undefined
  /** Where the service account is mounted, for its CA and namespace; default as in `loginWithServiceAccount()`. */
  readonly folder?: string | undefined
  /** 30 by default. */
  readonly priority?: number | undefined
}

/**
 * Logs in with the certificate of a projected volume of type `podCertificate`.
 *
 * The bundle is read in one go, so that key and chain belong together, and again when the kubelet replaces it. The
 * server comes from the environment, as in `loginWithServiceAccount()`.
 *
 * @returns Undefined if there is no such file.
 *
 * @example
 * const path = '/var/run/pod-certificate/credentialbundle.pem'
 * const vault = new Vault()
 * vault.onLogin((context) => loginWithPodCertificate(context, { path }), { id: 'pod-certificate' })
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
  return toConnectionInfo(own, context, { priority, trustEnv })
}

/** Adds the variables of a pod, which are missing if its service links are turned off. */
function inPod(env: Environment): Environment {
  return {
    ...env,
    KUBERNETES_SERVICE_HOST: env['KUBERNETES_SERVICE_HOST'] || 'kubernetes.default.svc',
    KUBERNETES_SERVICE_PORT: env['KUBERNETES_SERVICE_PORT'] || '443',
  }
}
