import { constants, createPrivateKey, sign } from 'node:crypto'
import type {
  SignatureScheme,
  SigningKey,
  SigningRequest,
} from '../../src/credential/signing-key.ts'

/** An in-memory signing key that records its calls. */
export interface SoftwareKey extends SigningKey {
  readonly offers: (readonly SignatureScheme[])[]
  readonly requests: SigningRequest[]
}

/** Replacements for the methods of a correct key. */
export interface Misbehaviour {
  choose?: SigningKey['choose']
  /** Called instead of signing; `signature` computes the correct one. */
  sign?: (signature: () => Buffer, request: SigningRequest) => Promise<Uint8Array>
}

const HASHES = { 256: 'sha256', 384: 'sha384', 512: 'sha512' } as const

export function softwareKey(pem: string, misbehaviour: Misbehaviour = {}): SoftwareKey {
  const key = createPrivateKey(pem)
  const offers: (readonly SignatureScheme[])[] = []
  const requests: SigningRequest[] = []
  return {
    offers,
    requests,
    choose(schemes, signal) {
      offers.push(schemes)
      return misbehaviour.choose?.(schemes, signal) ?? Promise.resolve(schemes[0])
    },
    async sign(request) {
      requests.push(request)
      const signature = (): Buffer => signMessage(key, request)
      return misbehaviour.sign === undefined ? signature() : misbehaviour.sign(signature, request)
    },
  }
}

function signMessage(
  key: ReturnType<typeof createPrivateKey>,
  { scheme, message }: SigningRequest,
) {
  if (scheme === 'ed25519') return sign(null, message, key)
  const hash = HASHES[scheme.slice(-3) as unknown as keyof typeof HASHES]
  if (!scheme.startsWith('rsa_pss')) return sign(hash, message, key)
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return sign(hash, message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })
}
