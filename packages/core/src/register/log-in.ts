import type { Cluster } from '../connect/cluster.ts'

/** A signer stays unlocked as long as the program runs, because it cannot prompt for the PIN meanwhile. */
export const KEEP_SIGNER = { signerIdleMs: 2_147_483_647 } as const

/**
 * Gets the credential before the program takes over the terminal.
 *
 * A signer asks for its PIN at the first handshake, so this makes one; requests of the program reuse the connection. The
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
