import type { ClusterStatus } from '../connect/cluster.ts'

/** The address of the proxy, and how to authenticate. */
export interface ProxyAddress {
  readonly url: string
  readonly secret: string
  /** PEM. */
  readonly ca: string
}

/**
 * Returns a kubeconfig for the proxy as JSON, which every YAML parser accepts.
 *
 * It keeps the names of the user's context: tools show them, and store settings by them.
 */
export function childKubeconfig(
  { context = 'kubecred', cluster = 'kubecred', user = 'kubecred', namespace }: ClusterStatus,
  { url, secret, ca }: ProxyAddress,
): string {
  const authority = Buffer.from(ca).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    clusters: [
      { name: cluster, cluster: { server: url, 'certificate-authority-data': authority } },
    ],
    contexts: [{ name: context, context: { cluster, user, namespace } }],
    users: [{ name: user, user: { token: secret } }],
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
