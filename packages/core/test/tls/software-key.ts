import { constants, createPrivateKey, sign } from 'node:crypto'
import type {
  SignatureScheme,
  SigningKey,
  SigningRequest,
} from '../../src/credential/signing-key.ts'

/** A signing key that is in memory, and remembers what it was asked. */
export interface SoftwareKey extends SigningKey {
  readonly offers: (readonly SignatureScheme[])[]
  readonly requests: SigningRequest[]
}

/** What a key does otherwise than a good one. */
export interface Habits {
  choose?: SigningKey['choose']
  /** What it does instead of signing, or with the signature. */
  sign?: (signature: () => Buffer, request: SigningRequest) => Promise<Uint8Array>
}

const HASHES = { 256: 'sha256', 384: 'sha384', 512: 'sha512' } as const

export function softwareKey(pem: string, habits: Habits = {}): SoftwareKey {
  const key = createPrivateKey(pem)
  const offers: (readonly SignatureScheme[])[] = []
  const requests: SigningRequest[] = []
  return {
    offers,
    requests,
    choose(schemes, signal) {
      offers.push(schemes)
      return habits.choose?.(schemes, signal) ?? Promise.resolve(schemes[0])
    },
    async sign(request) {
      requests.push(request)
      const signature = (): Buffer => signMessage(key, request)
      return habits.sign === undefined ? signature() : habits.sign(signature, request)
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
