/** TLS 1.3 signature schemes for client certificates, with their names and numbers from RFC 8446. */
export const SIGNATURE_SCHEMES = {
  ecdsa_secp256r1_sha256: 0x0403,
  ecdsa_secp384r1_sha384: 0x0503,
  ecdsa_secp521r1_sha512: 0x0603,
  rsa_pss_rsae_sha256: 0x0804,
  rsa_pss_rsae_sha384: 0x0805,
  rsa_pss_rsae_sha512: 0x0806,
  ed25519: 0x0807,
} as const

/**
 * A TLS 1.3 signature scheme, by its name in RFC 8446.
 *
 * @experimental
 */
export type SignatureScheme = keyof typeof SIGNATURE_SCHEMES

/** The parameters of a signature scheme. */
interface SchemeFacts {
  /** Null if the scheme hashes the message itself. */
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null
  readonly keyType: 'ec' | 'rsa' | 'ed25519'
  /** OpenSSL's name of the curve that the scheme requires. */
  readonly curve?: string
  /** For RSASSA-PSS: the length of the hash. */
  readonly saltLength?: number
}

/** The schemes with the shorter hash come first: every device supports it. */
export const SCHEME_FACTS: Readonly<Record<SignatureScheme, SchemeFacts>> = {
  ecdsa_secp256r1_sha256: { hash: 'sha256', keyType: 'ec', curve: 'prime256v1' },
  ecdsa_secp384r1_sha384: { hash: 'sha384', keyType: 'ec', curve: 'secp384r1' },
  ecdsa_secp521r1_sha512: { hash: 'sha512', keyType: 'ec', curve: 'secp521r1' },
  rsa_pss_rsae_sha256: { hash: 'sha256', keyType: 'rsa', saltLength: 32 },
  rsa_pss_rsae_sha384: { hash: 'sha384', keyType: 'rsa', saltLength: 48 },
  rsa_pss_rsae_sha512: { hash: 'sha512', keyType: 'rsa', saltLength: 64 },
  ed25519: { hash: null, keyType: 'ed25519' },
}

/** A public key as Node describes it. */
interface KeyFacts {
  readonly asymmetricKeyType?: string | undefined
  readonly asymmetricKeyDetails?:
    | { readonly namedCurve?: string | undefined; readonly modulusLength?: number | undefined }
    | undefined
}

/** Returns whether a key can sign with a scheme. */
export function fitsKey(
  scheme: SignatureScheme,
  { asymmetricKeyType, asymmetricKeyDetails = {} }: KeyFacts,
): boolean {
  const { keyType, curve, saltLength } = SCHEME_FACTS[scheme]
  if (asymmetricKeyType !== keyType) return false
  const { namedCurve, modulusLength = 0 } = asymmetricKeyDetails
  if (saltLength === undefined) return namedCurve === curve
  // RFC 8017, section 9.1.1: hash, salt and two bytes must fit into the modulus.
  return Math.ceil((modulusLength - 1) / 8) >= 2 * saltLength + 2
}

/** The key types that `SIGNATURE_SCHEMES` supports, for messages. */
export const SUPPORTED_KEYS = 'RSA, P-256, P-384, P-521 and Ed25519'

/**
 * Returns the type of a key for messages, such as `Ed448`.
 *
 * @param key Undefined for a type that this OpenSSL does not support; it is then identified by its OID.
 * @param certificate The certificate of the key, in DER.
 */
export function keyKind(key: KeyFacts | undefined, certificate: Uint8Array): string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key ?? {}
  if (type === 'ec') return `EC ${details.namedCurve ?? ''}`.trim()
  if (type === 'rsa') return `RSA-${details.modulusLength ?? ''}`
  if (type !== undefined) return KIND_NAMES[type] ?? type
  const hex = Array.from(certificate, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return KIND_OIDS.find(([oid]) => hex.includes(oid))?.[1] ?? 'such'
}

/** Names for messages, by Node's names. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  dsa: 'DSA',
  ed448: 'Ed448',
  'ml-dsa-44': 'ML-DSA-44',
  'ml-dsa-65': 'ML-DSA-65',
  'ml-dsa-87': 'ML-DSA-87',
  'rsa-pss': 'RSASSA-PSS',
}

/** Object identifiers in DER, as hexadecimal digits (RFC 8410, RFC 9881). */
const KIND_OIDS: readonly (readonly [string, string])[] = [
  ['06032b6571', 'Ed448'],
  ['0609608648016503040311', 'ML-DSA-44'],
  ['0609608648016503040312', 'ML-DSA-65'],
  ['0609608648016503040313', 'ML-DSA-87'],
]

/**
 * A request to sign a TLS handshake.
 *
 * @experimental
 */
export interface SigningRequest {
  readonly scheme: SignatureScheme
  /** The digest of `message` with the hash of the scheme. For Ed25519, which hashes itself, it is `message`. */
  readonly digest: Uint8Array
  readonly message: Uint8Array
  /** Aborted when the signature is no longer needed. */
  readonly signal: AbortSignal
}

/**
 * A private key outside this process: in a hardware token, an HSM or another process.
 *
 * It only returns signatures. RSA signatures are RSASSA-PSS with a salt as long as the hash; ECDSA signatures are in
 * DER.
 *
 * @experimental
 */
export interface SigningKey {
  /**
   * Chooses one of the schemes that both the server and the certificate allow, preferred first.
   *
   * @returns Undefined if the key supports none of them.
   */
  choose(
    schemes: readonly SignatureScheme[],
    signal: AbortSignal,
  ): Promise<SignatureScheme | undefined>
  sign(request: SigningRequest): Promise<Uint8Array>
}

/** Limit of a certificate chain that is sent: Go's servers accept handshake messages of at most 64 KiB. */
export const MAX_CHAIN_BYTES = 60_000
