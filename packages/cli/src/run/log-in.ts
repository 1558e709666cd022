import type { Cluster } from 'kubecred'

/**
 * Gets the credential before the command takes over the terminal.
 *
 * A signer asks for its PIN at the first handshake, so this makes one; requests of the command reuse the connection. The
 * response is ignored.
 *
 * @throws {CredentialError}
 */
export async function logIn(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const { certificate } = await cluster.credential({ signal })
  if (certificate?.signingKey === undefined) return
  const response = await cluster.fetch('/version', { signal })
  await response.arrayBuffer()
}
