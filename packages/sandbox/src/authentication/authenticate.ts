import type { ClientCertificates } from '../certificates/client-certificates.ts'
import type { Incoming } from '../server/exchange.ts'
import { type Finding, type Inspection, inspectClientCertificate } from './client-certificate.ts'
import type { Tokens } from './tokens.ts'
import { ANONYMOUS, asAuthenticated, type UserInfo } from './user-info.ts'

/** The credentials that the server accepts. */
export interface Authenticators {
  readonly certificates: ClientCertificates
  readonly tokens: Tokens
  /** Passwords by user name. */
  readonly basic: Readonly<Record<string, string>>
  readonly anonymous: boolean
  readonly now: () => number
}

/** The result of authentication: the user, and which credentials the request had. */
export interface Authentication {
  /** Absent if the request must be answered with 401. */
  readonly user?: UserInfo
  readonly hasAuthorization: boolean
  readonly hasClientCertificate: boolean
  /** The user that the bearer token was issued to, whether it is valid or not. */
  readonly tokenUser?: string
  /** The user that the client certificate names, whether it is valid or not. */
  readonly certificateUser?: string
}

/**
 * Authenticates a request, in the order of kube-apiserver.
 *
 * A valid certificate takes precedence, even over an invalid token. An invalid certificate does not affect a valid
 * token. A request with only invalid credentials is not anonymous but unauthorized.
 */
export function authenticate(request: Incoming, known: Authenticators): Authentication {
  const { authorization } = request.headers
  const certificate = inspectClientCertificate(request, known.certificates, known.now())
  const header = inspectAuthorization(authorization ?? '', known)
  const user = choose(certificate.finding, header.finding, known)
  return {
    ...(user === undefined ? {} : { user: asAuthenticated(user) }),
    hasAuthorization: authorization !== undefined,
    hasClientCertificate: certificate.finding !== 'absent',
    ...(header.names === undefined ? {} : { tokenUser: header.names }),
    ...(certificate.names === undefined ? {} : { certificateUser: certificate.names }),
  }
}

function choose(
  certificate: Finding,
  header: Finding,
  { anonymous }: Authenticators,
): UserInfo | undefined {
  for (const finding of [certificate, header]) {
    if (typeof finding === 'object') return finding
  }
  if (certificate === 'invalid' || header === 'invalid') return undefined
  return anonymous ? ANONYMOUS : undefined
}

function inspectAuthorization(header: string, known: Authenticators): Inspection {
  // As in kube-apiserver's bearertoken authenticator, other schemes and an empty token are ignored.
  const [scheme = '', value = ''] = header.trim().split(' ')
  if (value === '') return { finding: 'absent' }
  if (scheme.toLowerCase() === 'bearer') return inspectToken(value, known.tokens)
  if (scheme.toLowerCase() === 'basic') return { finding: inspectBasic(value, known.basic) }
  return { finding: 'absent' }
}

function inspectToken(token: string, tokens: Tokens): Inspection {
  const names = tokens.ownerOf(token)
  const finding = tokens.find(token) ?? 'invalid'
  return names === undefined ? { finding } : { finding, names }
}

function inspectBasic(encoded: string, passwords: Readonly<Record<string, string>>): Finding {
  // Without passwords there is no such authenticator, and the header is ignored.
  if (Object.keys(passwords).length === 0) return 'absent'
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  const username = text.slice(0, Math.max(colon, 0))
  const known = Object.hasOwn(passwords, username) && passwords[username] === text.slice(colon + 1)
  return known ? { username, groups: [] } : 'invalid'
}
