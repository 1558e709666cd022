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

/** One way to let a token sign: what it is told, what it gets, and what its answer becomes. */
export interface Way {
  readonly mechanism: Mechanism
  readonly prepare: (digest: Uint8Array) => Buffer
  readonly finish: (signature: Buffer) => Uint8Array
}

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
/** pkcs11js's CK_PARAMS_RSA_PSS: which of its structures the parameter is. */
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
 * Lists the ways in which a token can make a signature, best first.
 *
 * @param mechanisms Those that the token knows.
 * @param modulusBits The length of an RSA key, where it can be read.
 * @throws {TokenError} When the key cannot make such a signature, or the token knows no way.
 */
export function waysToSign(
  scheme: SignatureScheme,
  kind: KeyKind,
  { mechanisms, modulusBits }: { mechanisms: readonly number[]; modulusBits: number },
): Way[] {
  if (kind === 'RSA' && KINDS[scheme] !== 'RSA') {
    // The same options mean ECDSA for a key on an elliptic curve, and PKCS#1 v1.5 for an RSA key.
    throw new TokenError(
      'the client asks for a PKCS#1 v1.5 signature of the RSA key in the token, and TLS 1.3 does not allow it',
      { hint: 'Connect to a server that speaks TLS 1.3: then clients ask for RSASSA-PSS.' },
    )
  }
  if (KINDS[scheme] !== kind) {
    throw new TokenError(
      `the key in the token (${kind ?? 'of an unknown kind'}) cannot make a signature ${scheme}`,
      { hint: 'Check that the certificate belongs to the key: kubecred-pkcs11 list shows it.' },
    )
  }
  const ways = allWays(scheme, modulusBits).filter(({ mechanism }) =>
    mechanisms.includes(mechanism.mechanism),
  )
  if (ways.length > 0) return ways
  throw new TokenError(`the token knows no way to make a signature ${scheme}`, {
    hint: 'Use a key on an elliptic curve, or a device that knows RSA-PSS: TLS 1.3 needs it.',
  })
}

function allWays(scheme: SignatureScheme, modulusBits: number): Way[] {
  if (scheme === 'ed25519') {
    return [{ mechanism: { mechanism: CKM_EDDSA }, prepare: asIs, finish: asIs }]
  }
  if (!isPss(scheme)) {
    return [{ mechanism: { mechanism: CKM_ECDSA }, prepare: asIs, finish: ecdsaToDer }]
  }
  const { hash, ...parameter } = PSS[scheme]
  const padded: Way = {
    mechanism: {
      mechanism: CKM_RSA_PKCS_PSS,
      parameter: { type: PARAMS_RSA_PSS, ...parameter },
    },
    prepare: asIs,
    finish: asIs,
  }
  // Without its modulus we do not know how long the padding has to be.
  if (modulusBits === 0) return [padded]
  const bare: Way = {
    mechanism: { mechanism: CKM_RSA_X_509 },
    prepare: (digest) => pssEncode(digest, hash, modulusBits),
    finish: asIs,
  }
  return [padded, bare]
}

function isPss(scheme: SignatureScheme): scheme is keyof typeof PSS {
  return Object.hasOwn(PSS, scheme)
}
