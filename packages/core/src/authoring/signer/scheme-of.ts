import { SignRequestError } from '../../errors/authoring-errors.ts'
import { parseJson } from '../../protocol/parse-json.ts'
import { type Fields, isFields } from '../../protocol/plain-object.ts'
import type { SignatureScheme } from '../../protocol/signing-key.ts'

/** Go's number of a hash, how long its digest is, and the schemes of TLS 1.3 that use it. */
const HASHES = [
  { go: 5, bytes: 32, name: 'sha256', ecdsa: 'ecdsa_secp256r1_sha256', pss: 'rsa_pss_rsae_sha256' },
  { go: 6, bytes: 48, name: 'sha384', ecdsa: 'ecdsa_secp384r1_sha384', pss: 'rsa_pss_rsae_sha384' },
  { go: 7, bytes: 64, name: 'sha512', ecdsa: 'ecdsa_secp521r1_sha512', pss: 'rsa_pss_rsae_sha512' },
] as const

type Hash = (typeof HASHES)[number]

/** The specification's default. */
const RSA_PSS = '*rsa.PSSOptions'
const PLAIN_HASH = 'crypto.Hash'
/** Go's `rsa.PSSSaltLengthEqualsHash`, and `rsa.PSSSaltLengthAuto`: TLS 1.3 leaves only one length to choose. */
const AS_LONG_AS_THE_HASH: readonly unknown[] = [-1, 0]

/**
 * Finds the signature scheme of a request: clients send what Go's crypto/tls would tell a `crypto.Signer`.
 *
 * @throws {SignRequestError} When it is none that TLS 1.3 knows for client certificates.
 */
export function schemeOf(fields: Fields, digest: Uint8Array): SignatureScheme {
  const type = fields['signerOptsType'] ?? RSA_PSS
  if (type !== RSA_PSS && type !== PLAIN_HASH) {
    throw new SignRequestError('signerOptsType', `is neither ${RSA_PSS} nor ${PLAIN_HASH}`)
  }
  const options = readOptions(fields['signerOpts'])
  return type === RSA_PSS ? pssScheme(options, digest) : plainScheme(options, digest)
}

/** The hash of a scheme, by its name in node:crypto. Ed25519 has none of its own. */
export function hashOf(scheme: Exclude<SignatureScheme, 'ed25519'>): Hash['name'] {
  return HASHES.find(({ ecdsa, pss }) => ecdsa === scheme || pss === scheme)?.name ?? 'sha256'
}

function pssScheme(options: unknown, digest: Uint8Array): SignatureScheme {
  if (options !== undefined && !isFields(options)) {
    throw new SignRequestError('signerOpts', `is no object, as ${RSA_PSS} has it`)
  }
  const { Hash = 0, SaltLength = 0 } = options ?? {}
  // Go leaves it at 0 where the digest says enough.
  const hash = Hash === 0 ? HASHES.find(({ bytes }) => bytes === digest.length) : hashFor(Hash)
  if (hash === undefined) throw ofWrongLength(digest)
  checkLength(hash, digest)
  if (!AS_LONG_AS_THE_HASH.includes(SaltLength) && SaltLength !== hash.bytes) {
    throw new SignRequestError('signerOpts', 'asks for a salt that is not as long as the hash')
  }
  return hash.pss
}

/**
 * For a key on an elliptic curve. For an RSA key the same options mean PKCS#1 v1.5, which TLS 1.3 does not allow: whoever
 * knows the key refuses them.
 */
function plainScheme(options: unknown, digest: Uint8Array): SignatureScheme {
  if (options === 0) return 'ed25519'
  const hash = hashFor(options)
  checkLength(hash, digest)
  return hash.ecdsa
}

function hashFor(number: unknown): Hash {
  const hash = HASHES.find(({ go }) => go === number)
  if (hash !== undefined) return hash
  throw new SignRequestError(
    'signerOpts',
    'names a hash other than SHA-256 (5), SHA-384 (6) and SHA-512 (7)',
  )
}

function checkLength({ bytes }: Hash, digest: Uint8Array): void {
  if (digest.length !== bytes) throw ofWrongLength(digest)
}

function ofWrongLength({ length }: Uint8Array): SignRequestError {
  return new SignRequestError('digest', `has ${length} bytes, and its hash another number`)
}

/** It is JSON inside of a text. Undefined when it is left out. */
function readOptions(value: unknown): unknown {
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    throw new SignRequestError('signerOpts', 'is no text with JSON in it')
  }
  try {
    return parseJson(value)
  } catch (cause) {
    throw new SignRequestError('signerOpts', 'holds no JSON', { cause })
  }
}
