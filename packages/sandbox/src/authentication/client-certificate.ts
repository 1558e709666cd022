import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { ClientCertificates } from '../certificates/client-certificates.ts'
import type { Incoming } from '../server/exchange.ts'
import type { UserInfo } from './user-info.ts'

/** What a credential says about the client: nothing, something bad, or who it is. */
export type Finding = 'absent' | 'invalid' | UserInfo

/** A finding, and whom the credential names even if it is bad. */
export interface Inspection {
  readonly finding: Finding
  readonly names?: string
}

/**
 * Reads the user from the client certificate of the connection.
 *
 * The dates are checked for every request, as kube-apiserver does: a connection that was opened
 * with a good certificate does not outlive it.
 */
export function inspectClientCertificate(
  { socket }: Incoming,
  certificates: ClientCertificates,
  now: number,
): Inspection {
  if (!(socket instanceof TLSSocket)) return { finding: 'absent' }
  const certificate: Partial<PeerCertificate> | null = socket.getPeerCertificate()
  if (certificate?.subject === undefined || certificate.valid_to === undefined) {
    return { finding: 'absent' }
  }
  // The type says string, but an attribute with several values arrives as a list.
  const { CN, O }: { CN?: unknown; O?: unknown } = certificate.subject
  const [username] = strings(CN)
  if (username === undefined) return { finding: 'invalid' }
  const isGood =
    socket.authorized &&
    now <= Date.parse(certificate.valid_to) &&
    !certificates.isRevoked(certificate.fingerprint256 ?? '')
  return { finding: isGood ? { username, groups: strings(O) } : 'invalid', names: username }
}

function strings(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((item) => typeof item === 'string')
}
