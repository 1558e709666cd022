import type { KeyObject, X509Certificate } from 'node:crypto'
import { fitsKey, SCHEME_FACTS, type SignatureScheme } from '../protocol/signing-key.ts'

/** The TLS 1.3 signatures that the key of a certificate can make, best first. */
export function schemesOf(certificate: X509Certificate): readonly SignatureScheme[] {
  const key = publicKeyOf(certificate)
  const all = Object.keys(SCHEME_FACTS) as SignatureScheme[]
  return key === undefined ? [] : all.filter((scheme) => fitsKey(scheme, key))
}

/** Undefined for a kind of key that this OpenSSL does not know. */
function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey
  } catch {
    return undefined
  }
}
