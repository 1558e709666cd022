import type { Secret } from '../secret/secret.ts'
import type { SigningKey } from './signing-key.ts'

interface CertificateChain {
  /** PEM, leaf first, intermediates after it. */
  readonly chain: string
  /** Validity of the leaf, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

interface WithPrivateKey {
  /** PEM in PKCS#8, whatever format and label the key was read from. */
  readonly key: Secret
  readonly signingKey?: undefined
}

interface WithSigningKey {
  readonly key?: undefined
  /** Signs with a private key outside this process; each signature is verified against the certificate. */
  readonly signingKey: SigningKey
  /** Equal for the same key: a `SigningKey` object has no text to compare. */
  readonly signingKeyId: string
}

/** A client certificate and its matching private key. */
export type KeyPair = CertificateChain & WithPrivateKey

/**
 * A client certificate with its private key, or with a signing key outside this process. Whether a signing key matches
 * the certificate is known only when it signs.
 */
export type CertificatePair = KeyPair | (CertificateChain & WithSigningKey)

/** User name and password for HTTP basic authentication. */
export interface BasicLogin {
  readonly username: string
  readonly password: Secret
}

/** What authenticates a request. It may have several parts; without any, requests are anonymous. */
export interface Credential {
  readonly token?: Secret
  /** The scheme in front of the token; `Bearer` by default. Without a token it is the whole header, and then a secret. */
  readonly scheme?: Secret
  readonly basic?: BasicLogin
  readonly certificate?: CertificatePair
}

/**
 * Returns a text that is equal for equal credentials.
 *
 * It contains secrets: hash it with a key of this process, and never store or show it.
 */
export function credentialIdentity({ token, scheme, basic, certificate }: Credential): string {
  return JSON.stringify([
    token?.expose(),
    scheme?.expose(),
    basic && [basic.username, basic.password.expose()],
    certificateFingerprint(certificate),
  ])
}

/** Returns the same for the certificate, which is bound to connections; empty without a certificate. */
export function certificateFingerprint(certificate: CertificatePair | undefined): string {
  if (certificate === undefined) return ''
  const { chain, key } = certificate
  return JSON.stringify([chain, key === undefined ? certificate.signingKeyId : key.expose()])
}

/** Returns whether a text can be the value of an HTTP header: printable ASCII without spaces at its ends. */
export function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
}

/** The response with which a server refused a credential. */
export interface Refusal {
  /** The HTTP status; 0 if the credential was not sent. */
  readonly status: number
  /** The headers of the response, with names in lower case; empty if there was no response. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** A refusal without a known response. */
export const UNAUTHORIZED: Refusal = { status: 401, headers: {} }
