import type { IncomingMessage } from 'node:http'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { ClientCertificates } from '../certificates/client-certificates.ts'
import type { UserInfo } from './user-info.ts'

/** What the connection says about the client: nothing, something bad, or who it is. */
export type CertificateFinding = 'absent' | 'invalid' | UserInfo

/**
 * Reads the user from the client certificate of the connection.
 *
 * The dates are checked for every request, as kube-apiserver does: a connection that was opened
 * with a good certificate does not outlive it.
 */
export function inspectClientCertificate(
  request: IncomingMessage,
  certificates: ClientCertificates,
  now: number,
): CertificateFinding {
  const { socket } = request
  if (!(socket instanceof TLSSocket)) return 'absent'
  const certificate: Partial<PeerCertificate> | null = socket.getPeerCertificate()
  if (certificate?.subject === undefined || certificate.valid_to === undefined) return 'absent'
  if (!socket.authorized || now > Date.parse(certificate.valid_to)) return 'invalid'
  if (certificates.isRevoked(certificate.fingerprint256 ?? '')) return 'invalid'
  // The type says string, but an attribute with several values arrives as a list.
  const { CN, O }: { CN?: unknown; O?: unknown } = certificate.subject
  const [username] = strings(CN)
  return username === undefined ? 'invalid' : { username, groups: strings(O) }
}

function strings(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((item) => typeof item === 'string')
}
