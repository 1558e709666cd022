import type { Crypto } from '../ports/crypto.ts'
import { type Credential, certificateText, credentialText } from '../protocol/credential.ts'
import { Derived } from './derived.ts'

/**
 * What a transport holds while it uses a credential.
 *
 * One object serves all requests made with the same credential. The ticket says which one it was, so
 * that a late refusal cannot hurt a newer credential.
 */
export interface Lease {
  readonly ticket: number
  readonly credential: Credential
  /** The whole `Authorization` header, or undefined. It is a secret. */
  readonly authorization: string | undefined
  readonly derived: Derived
}

/** A lease, and what tells its credential from another one. */
export interface Kept extends Lease {
  readonly digest: string
  readonly tlsDigest: string
}

/** Wraps a credential; what was built from the one before stays in use if the certificate is the same. */
export function keep(
  ticket: number,
  credential: Credential,
  crypto: Crypto,
  old: Kept | undefined,
): Kept {
  const tlsDigest = crypto.digest(certificateText(credential.certificate))
  return {
    ticket,
    credential,
    authorization: authorizationOf(credential),
    derived: old?.tlsDigest === tlsDigest && !old.derived.isRetired ? old.derived : new Derived(),
    digest: crypto.digest(credentialText(credential)),
    tlsDigest,
  }
}

/** A token wins over basic. */
function authorizationOf({ token, basic }: Credential): string | undefined {
  if (token !== undefined) return `Bearer ${token.expose()}`
  if (basic === undefined) return undefined
  const bytes = new TextEncoder().encode(`${basic.username}:${basic.password.expose()}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
