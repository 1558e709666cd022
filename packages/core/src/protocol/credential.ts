import type { Endpoint } from '../kubeconfig/connection.ts'
import type { Secret } from '../secret/secret.ts'

/** A client certificate and its private key, known to belong together. */
export interface CertificatePair {
  /** PEM, leaf first, intermediates after it. */
  readonly chain: string
  /** PEM, always PKCS#8, whatever form and label it came with. */
  readonly key: Secret
  /** Validity of the leaf, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

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

/** A credential as a source hands it over. */
export interface Acquired {
  readonly credential: Credential
  /** Milliseconds since the epoch; `Infinity` when the issuer set no expiry. */
  readonly expiresAt: number
  /** Where it is to be used, if not where the connection says. */
  readonly endpoint?: Endpoint
}

/**
 * The text whose digest tells whether two credentials are the same one.
 *
 * It holds secrets: hash it with the process's own key, never store or show it.
 */
export function credentialText({ token, scheme, basic, certificate }: Credential): string {
  return JSON.stringify([
    token?.expose(),
    scheme?.expose(),
    basic && [basic.username, basic.password.expose()],
    certificateText(certificate),
  ])
}

/** The same for the part that is bound to connections: without a certificate any connection will do. */
export function certificateText(certificate: CertificatePair | undefined): string {
  return certificate === undefined
    ? ''
    : JSON.stringify([certificate.chain, certificate.key.expose()])
}
