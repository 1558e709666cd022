import type { Secret } from '../secret/secret.ts'
import type { SigningKey } from './signing-key.ts'

interface CertificateChain {
  /** PEM, leaf first, intermediates after it. */
  readonly chain: string
  /** Validity of the leaf, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

interface KeyHere {
  /** PEM, always PKCS#8, whatever form and label it came with. */
  readonly key: Secret
  readonly signingKey?: undefined
}

interface KeyElsewhere {
  readonly key?: undefined
  /** Signs what only the private key could; each signature is checked against the certificate. */
  readonly signingKey: SigningKey
  /** Equal for what is the same key: objects have no text that could be compared. */
  readonly signingKeyId: string
}

/** A client certificate and its private key, known to belong together. */
export type KeyPair = CertificateChain & KeyHere

/** The same, or with a key that is elsewhere: whether it fits shows when it signs. */
export type CertificatePair = KeyPair | (CertificateChain & KeyElsewhere)

export interface BasicLogin {
  readonly username: string
  readonly password: Secret
}

/** What authenticates a request. Several parts may be present; none at all is anonymous and legal. */
export interface Credential {
  readonly token?: Secret
  /** The word before the token; `Bearer` when undefined. Without a token it is the whole header, and then a secret. */
  readonly scheme?: Secret
  readonly basic?: BasicLogin
  readonly certificate?: CertificatePair
}

/**
 * The text whose digest tells whether two credentials are the same one.
 *
 * It holds secrets: hash it with the process's own key, never store or show it.
 */
export function credentialIdentity({ token, scheme, basic, certificate }: Credential): string {
  return JSON.stringify([
    token?.expose(),
    scheme?.expose(),
    basic && [basic.username, basic.password.expose()],
    certificateFingerprint(certificate),
  ])
}

/** The same for the part that is bound to connections: without a certificate any connection will do. */
export function certificateFingerprint(certificate: CertificatePair | undefined): string {
  if (certificate === undefined) return ''
  const { chain, key } = certificate
  return JSON.stringify([chain, key === undefined ? certificate.signingKeyId : key.expose()])
}

/** Whether a text can be the value of an HTTP header: printable ASCII, no white space at its ends. */
export function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
}
