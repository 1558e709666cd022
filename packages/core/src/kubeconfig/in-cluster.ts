import type { Environment } from '../formats/plain-object.ts'
import { NO_CLUSTER, NO_USER } from './kubeconfig.ts'
import type { Selection } from './select-entries.ts'

/** Where every pod finds its service account. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** What was found in the service account's folder; an absent file is undefined. */
export interface ServiceAccountFiles {
  /** Path of the token, if there is a file (not a folder) at it. */
  readonly tokenFile: string | undefined
  /** Path of a pod certificate, key and chain in one file, to use in place of the token. */
  readonly credentialBundle?: string | undefined
  readonly caFile: string
  /** Content of the CA file. */
  readonly ca: string | undefined
  readonly namespace: string | undefined
}

/** A pod from whose inside the API server can be reached. */
export interface Pod {
  readonly selection: Selection
  /** `POD_NAMESPACE`, else what the mounted file says. */
  readonly namespace: string | undefined
}

/** Whether the environment is that of a pod, so that it is worth looking at the files. */
export function isInPod(env: Environment): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT'])
}

/**
 * Describes the connection of the pod we run in, or undefined outside of one.
 *
 * A CA that cannot be read leaves the system's roots, as in client-go, but with a warning that is seen.
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
        : [`The CA of the service account, ${files.caFile}, cannot be used; the system's are.`],
      origin: 'in-cluster',
    },
  }
}

function serverOf(host: string, port: string): string {
  const isIpv6 = host.includes(':') && !host.startsWith('[')
  return `https://${isIpv6 ? `[${host}]` : host}:${port}`
}
