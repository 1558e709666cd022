import type { Environment } from '../formats/plain-object.ts'
import { NO_CLUSTER, NO_USER } from './kubeconfig.ts'
import type { Selection } from './select-entries.ts'

/** The directory in which a pod finds its service account. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The files found in the service account directory; a missing file is undefined. */
export interface ServiceAccountFiles {
  /** Path of the token, if it is a file and not a directory. */
  readonly tokenFile: string | undefined
  /** Path of a pod certificate, with key and chain in one file, that replaces the token. */
  readonly credentialBundle?: string | undefined
  readonly caFile: string
  /** Content of the CA file. */
  readonly ca: string | undefined
  readonly namespace: string | undefined
}

/** The in-cluster configuration of the pod that this process runs in. */
export interface Pod {
  readonly selection: Selection
  /** `POD_NAMESPACE`, or the content of the mounted file. */
  readonly namespace: string | undefined
}

/** Returns whether the environment is that of a pod, so that it may have service account files. */
export function isInPod(env: Environment): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT'])
}

/**
 * Returns the in-cluster configuration; undefined outside a pod.
 *
 * If the CA file is unreadable, the system roots are used, as in client-go, and there is a warning.
 */
export function inClusterConfig(env: Environment, files: ServiceAccountFiles): Pod | undefined {
  const { tokenFile, credentialBundle } = files
  if (!isInPod(env) || (tokenFile ?? credentialBundle) === undefined) return undefined
  const hasCa = files.ca?.includes('-----BEGIN') === true
  const server = serverOf(
    env['KUBERNETES_SERVICE_HOST'] ?? '',
    env['KUBERNETES_SERVICE_PORT'] ?? '',
  )
  return {
    namespace: env['POD_NAMESPACE'] || files.namespace?.trim() || undefined,
    selection: {
      context: undefined,
      cluster: { ...NO_CLUSTER, server, certificateAuthority: hasCa ? files.caFile : undefined },
      user:
        credentialBundle === undefined
          ? { ...NO_USER, tokenFile }
          : { ...NO_USER, clientCertificate: credentialBundle, clientKey: credentialBundle },
      warnings: hasCa
        ? []
        : [
            `The CA file of the service account, ${files.caFile}, is unreadable or invalid; the system roots are used.`,
          ],
      origin: 'in-cluster',
    },
  }
}

function serverOf(host: string, port: string): string {
  const isIpv6 = host.includes(':') && !host.startsWith('[')
  return `https://${isIpv6 ? `[${host}]` : host}:${port}`
}
