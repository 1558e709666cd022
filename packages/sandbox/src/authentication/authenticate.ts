import type { IncomingMessage } from 'node:http'
import type { ClientCertificates } from '../certificates/client-certificates.ts'
import { type CertificateFinding, inspectClientCertificate } from './client-certificate.ts'
import type { Tokens } from './tokens.ts'
import { ANONYMOUS, asAuthenticated, type UserInfo } from './user-info.ts'

/** What authentication needs to know. */
export interface Authenticators {
  readonly certificates: ClientCertificates
  readonly tokens: Tokens
  /** Passwords by user name. */
  readonly basic: Readonly<Record<string, string>>
  readonly anonymous: boolean
  readonly now: () => number
}

/** The outcome: who it is, if anybody, and what was shown. */
export interface Authentication {
  /** Absent when the request must be answered with 401. */
  readonly user?: UserInfo
  readonly hasAuthorization: boolean
  readonly hasClientCertificate: boolean
}

/**
 * Finds out who sent a request, in the order of kube-apiserver.
 *
 * A good certificate wins, even beside a bad token. A bad certificate does not hurt a good token.
 * If something was shown and nothing of it was good, the request is not anonymous but refused.
 */
export function authenticate(request: IncomingMessage, known: Authenticators): Authentication {
  const certificate = inspectClientCertificate(request, known.certificates, known.now())
  const { authorization } = request.headers
  const shown = {
    hasAuthorization: authorization !== undefined,
    hasClientCertificate: certificate !== 'absent',
  }
  const user = choose(certificate, inspectAuthorization(authorization ?? '', known), known)
  return user === undefined ? shown : { ...shown, user: asAuthenticated(user) }
}

function choose(
  certificate: CertificateFinding,
  header: CertificateFinding,
  { anonymous }: Authenticators,
): UserInfo | undefined {
  for (const finding of [certificate, header]) {
    if (typeof finding === 'object') return finding
  }
  if (certificate === 'invalid' || header === 'invalid') return undefined
  return anonymous ? ANONYMOUS : undefined
}

function inspectAuthorization(header: string, known: Authenticators): CertificateFinding {
  // client-go's bearertoken authenticator: other schemes, and an empty token, are no opinion.
  const [scheme = '', value = ''] = header.trim().split(' ')
  if (value === '') return 'absent'
  if (scheme.toLowerCase() === 'bearer') return known.tokens.find(value) ?? 'invalid'
  if (scheme.toLowerCase() === 'basic') return inspectBasic(value, known.basic)
  return 'absent'
}

function inspectBasic(
  encoded: string,
  passwords: Readonly<Record<string, string>>,
): CertificateFinding {
  // Without passwords there is no such authenticator, and the header means nothing.
  if (Object.keys(passwords).length === 0) return 'absent'
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  const username = text.slice(0, Math.max(colon, 0))
  const known = Object.hasOwn(passwords, username) && passwords[username] === text.slice(colon + 1)
  return known ? { username, groups: [] } : 'invalid'
}
