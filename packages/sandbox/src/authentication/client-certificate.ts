import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { ClientCertificates } from '../certificates/client-certificates.ts'
import type { Incoming } from '../server/exchange.ts'
import type { UserInfo } from './user-info.ts'

/** The user that a credential authenticates, or `absent` or `invalid`. */
export type Finding = 'absent' | 'invalid' | UserInfo

/** A finding, and the user that the credential names even if it is invalid. */
export interface Inspection {
  readonly finding: Finding
  readonly names?: string
}

/**
 * Reads the user from the client certificate of the connection.
 *
 * The dates are checked for every request, as in kube-apiserver: requests on a connection fail once its certificate has
 * expired.
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
  // The type says string, but an attribute with several values is an array.
  const { CN, O }: { CN?: unknown; O?: unknown } = certificate.subject
  const [username] = strings(CN)
  if (username === undefined) return { finding: 'invalid' }
  const isValid =
    socket.authorized &&
    now <= Date.parse(certificate.valid_to) &&
    !certificates.isRevoked(certificate.fingerprint256 ?? '')
  return { finding: isValid ? { username, groups: strings(O) } : 'invalid', names: username }
}

function strings(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((item) => typeof item === 'string')
}
