import type { Cluster } from 'kubecred'

/**
 * Gets the credential now, while a person still has the terminal.
 *
 * Where a key only signs, its PIN is asked for by the first handshake. So there is one: the connection stays, and the
 * command's requests take it. What the server answers on it is nobody's business.
 *
 * @throws {CredentialError}
 */
export async function logIn(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const { certificate } = await cluster.credential({ signal })
  if (certificate?.signingKey === undefined) return
  const response = await cluster.fetch('/version', { signal })
  await response.arrayBuffer()
}
