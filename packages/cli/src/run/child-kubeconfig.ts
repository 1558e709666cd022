import type { ClusterStatus } from 'kubecred'

/** What leads to the proxy. */
export interface ProxyAddress {
  readonly url: string
  readonly secret: string
  /** PEM. */
  readonly ca: string
}

/**
 * Writes a kubeconfig that leads to the proxy, as JSON, which every YAML parser reads.
 *
 * All names are the user's own: tools keep settings by them, and show them.
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
