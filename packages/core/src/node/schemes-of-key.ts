import type { KeyObject, X509Certificate } from 'node:crypto'
import { fitsKey, keyKind, SCHEME_FACTS, type SignatureScheme } from '../protocol/signing-key.ts'

/** The kind of the key of a certificate, and the TLS 1.3 signatures that it can make, best first. */
export function keyOf(certificate: X509Certificate): {
  readonly keyKind: string
  readonly schemes: readonly SignatureScheme[]
} {
  const key = publicKeyOf(certificate)
  const all = Object.keys(SCHEME_FACTS) as SignatureScheme[]
  return {
    keyKind: keyKind(key, certificate.raw),
    schemes: key === undefined ? [] : all.filter((scheme) => fitsKey(scheme, key)),
  }
}

/** Undefined for a kind of key that this OpenSSL does not know. */
function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey
  } catch {
    return undefined
  }
}
