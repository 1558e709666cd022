import { ecdsaToDer, type SignatureScheme } from 'kubecred/signer'
import {
  CKG_MGF1_SHA256,
  CKG_MGF1_SHA384,
  CKG_MGF1_SHA512,
  CKM_ECDSA,
  CKM_EDDSA,
  CKM_RSA_PKCS_PSS,
  CKM_RSA_X_509,
  CKM_SHA256,
  CKM_SHA384,
  CKM_SHA512,
  type Mechanism,
} from './cryptoki.ts'
import { pssEncode } from './pss-encode.ts'
import type { KeyKind } from './public-key.ts'
import { TokenError } from './token-error.ts'

/** One way to sign with a token: the mechanism, its input, and what turns its output into a TLS signature. */
export interface SigningMethod {
  readonly mechanism: Mechanism
  readonly prepare: (digest: Uint8Array) => Buffer
  readonly finish: (signature: Buffer) => Uint8Array
}

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
/** pkcs11js's CK_PARAMS_RSA_PSS, which names the structure of the parameter. */
const PARAMS_RSA_PSS = 5

const PSS = {
  rsa_pss_rsae_sha256: { hash: 'sha256', hashAlg: CKM_SHA256, mgf: CKG_MGF1_SHA256, saltLen: 32 },
  rsa_pss_rsae_sha384: { hash: 'sha384', hashAlg: CKM_SHA384, mgf: CKG_MGF1_SHA384, saltLen: 48 },
  rsa_pss_rsae_sha512: { hash: 'sha512', hashAlg: CKM_SHA512, mgf: CKG_MGF1_SHA512, saltLen: 64 },
} as const

const KINDS: Readonly<Record<SignatureScheme, KeyKind>> = {
  ecdsa_secp256r1_sha256: 'P-256',
  ecdsa_secp384r1_sha384: 'P-384',
  ecdsa_secp521r1_sha512: 'P-521',
  rsa_pss_rsae_sha256: 'RSA',
  rsa_pss_rsae_sha384: 'RSA',
  rsa_pss_rsae_sha512: 'RSA',
  ed25519: 'Ed25519',
}

/**
 * Lists the methods by which a token can make a signature, best first.
 *
 * @param mechanisms The mechanisms that the token lists.
 * @param modulusBits The length of an RSA key, or 0 if it cannot be read.
 * @throws {TokenError} The key cannot make such a signature, or the token supports none of the mechanisms.
 */
export function signingMethods(
  scheme: SignatureScheme,
  kind: KeyKind,
  { mechanisms, modulusBits }: { mechanisms: readonly number[]; modulusBits: number },
): SigningMethod[] {
  if (kind === 'RSA' && KINDS[scheme] !== 'RSA') {
    // The same options mean ECDSA for a key on an elliptic curve, and PKCS#1 v1.5 for an RSA key.
    throw new TokenError(
      'the client requested a PKCS#1 v1.5 signature with the RSA key in the token, which TLS 1.3 does not allow',
      { hint: 'Connect to a server that supports TLS 1.3: then clients request RSASSA-PSS.' },
    )
  }
  if (KINDS[scheme] !== kind) {
    throw new TokenError(
      `the key in the token (${kind ?? 'unknown type'}) cannot sign with ${scheme}`,
      { hint: 'Check that the certificate belongs to the key: kubecred-pkcs11 list' },
    )
  }
  const methods = methodsFor(scheme, modulusBits).filter(({ mechanism }) =>
    mechanisms.includes(mechanism.mechanism),
  )
  if (methods.length > 0) return methods
  throw new TokenError(`the token does not support ${scheme}`, {
    hint: 'Use an elliptic-curve key, or a device that supports RSA-PSS: TLS 1.3 requires it.',
  })
}

function methodsFor(scheme: SignatureScheme, modulusBits: number): SigningMethod[] {
  if (scheme === 'ed25519') {
    return [{ mechanism: { mechanism: CKM_EDDSA }, prepare: asIs, finish: asIs }]
  }
  if (!isPss(scheme)) {
    return [{ mechanism: { mechanism: CKM_ECDSA }, prepare: asIs, finish: ecdsaToDer }]
  }
  const { hash, ...parameter } = PSS[scheme]
  const withPss: SigningMethod = {
    mechanism: {
      mechanism: CKM_RSA_PKCS_PSS,
      parameter: { type: PARAMS_RSA_PSS, ...parameter },
    },
    prepare: asIs,
    finish: asIs,
  }
  // The length of the padding depends on the modulus.
  if (modulusBits === 0) return [withPss]
  const withRawRsa: SigningMethod = {
    mechanism: { mechanism: CKM_RSA_X_509 },
    prepare: (digest) => pssEncode(digest, hash, modulusBits),
    finish: asIs,
  }
  return [withPss, withRawRsa]
}

function isPss(scheme: SignatureScheme): scheme is keyof typeof PSS {
  return Object.hasOwn(PSS, scheme)
}
