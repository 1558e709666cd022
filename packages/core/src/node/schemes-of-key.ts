import type { KeyObject, X509Certificate } from 'node:crypto'
import type { SignatureScheme } from '../protocol/signing-key.ts'

/** OpenSSL's names of the curves, each with the only scheme that TLS 1.3 has for it. */
const CURVES: Readonly<Record<string, SignatureScheme>> = {
  prime256v1: 'ecdsa_secp256r1_sha256',
  secp384r1: 'ecdsa_secp384r1_sha384',
  secp521r1: 'ecdsa_secp521r1_sha512',
}

/** The shorter hash first: it is what devices are sure to have, and what the specification shows. */
const RSA: readonly (readonly [SignatureScheme, number])[] = [
  ['rsa_pss_rsae_sha256', 32],
  ['rsa_pss_rsae_sha384', 48],
  ['rsa_pss_rsae_sha512', 64],
]

/** The TLS 1.3 signatures that the key of a certificate can make, best first. */
export function schemesOf(certificate: X509Certificate): readonly SignatureScheme[] {
  const key = publicKeyOf(certificate)
  const { namedCurve = '', modulusLength = 0 } = key?.asymmetricKeyDetails ?? {}
  switch (key?.asymmetricKeyType) {
    case 'ed25519':
      return ['ed25519']
    case 'ec': {
      const scheme = CURVES[namedCurve]
      return scheme === undefined ? [] : [scheme]
    }
    case 'rsa':
      // Hash, a salt as long, and two bytes must fit in.
      return RSA.filter(([, hash]) => modulusLength / 8 >= 2 * hash + 2).map(([scheme]) => scheme)
    default:
      return []
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
