import { connect } from '../connect/connect.ts'
import { sendPlain } from '../request/send-plain.ts'
import type { ProxyAddress } from './child-kubeconfig.ts'

/**
 * Sends a request to our own proxy, which rejects it because it has no secret.
 *
 * So everything that a request needs, on both sides of the proxy, is loaded and compiled before the program sends its first
 * one. Nothing leaves this process. Errors are ignored: requests of the program report them.
 */
export async function rehearse(
  { url, ca }: Pick<ProxyAddress, 'url' | 'ca'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const own = { server: url, certificateAuthorityData: ca }
    await using cluster = await connect({ ...own, kubeconfig: [], env: {} })
    const request = { method: 'GET', headers: {}, signal }
    for await (const _ of (await sendPlain(cluster, '/', request)).body);
  } catch {
    // See above.
  }
}
