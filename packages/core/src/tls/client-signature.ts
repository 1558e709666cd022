import { constants, createHash, type KeyObject, verify } from 'node:crypto'
import { SIGNATURE_SCHEMES, type SignatureScheme } from '../protocol/signing-key.ts'

type Hash = 'sha256' | 'sha384' | 'sha512'

interface SchemeFacts {
  /** Null: the scheme hashes by itself. */
  readonly hash: Hash | null
  readonly keyType: 'ec' | 'rsa' | 'ed25519'
  /** OpenSSL's name of the one curve that the scheme goes with. */
  readonly curve?: string
  /** RSASSA-PSS: as long as the hash. */
  readonly saltLength?: number
}

const SCHEMES: Readonly<Record<SignatureScheme, SchemeFacts>> = {
  ecdsa_secp256r1_sha256: { hash: 'sha256', keyType: 'ec', curve: 'prime256v1' },
  ecdsa_secp384r1_sha384: { hash: 'sha384', keyType: 'ec', curve: 'secp384r1' },
  ecdsa_secp521r1_sha512: { hash: 'sha512', keyType: 'ec', curve: 'secp521r1' },
  rsa_pss_rsae_sha256: { hash: 'sha256', keyType: 'rsa', saltLength: 32 },
  rsa_pss_rsae_sha384: { hash: 'sha384', keyType: 'rsa', saltLength: 48 },
  rsa_pss_rsae_sha512: { hash: 'sha512', keyType: 'rsa', saltLength: 64 },
  ed25519: { hash: null, keyType: 'ed25519' },
}

/** What is before the transcript in what a client signs (RFC 8446, section 4.4.3). */
const PREFIX = Buffer.from(`${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`, 'latin1')

/** The schemes among `offered` that go with the key, in the order of the server: it names its best first. */
export function schemesFor(key: KeyObject, offered: readonly number[]): SignatureScheme[] {
  const names = Object.keys(SIGNATURE_SCHEMES) as SignatureScheme[]
  const known = new Map(names.map((name) => [SIGNATURE_SCHEMES[name] as number, name]))
  const wanted = new Set(offered.flatMap((number) => known.get(number) ?? []))
  return [...wanted].filter((scheme) => fits(SCHEMES[scheme], key))
}

/** What a client signs to show that it has the key of its certificate. */
export function messageToSign(transcriptHash: Uint8Array): Buffer {
  return Buffer.concat([PREFIX, transcriptHash])
}

/** What a signer that takes only digests signs; Ed25519 has none. */
export function digestToSign(scheme: SignatureScheme, message: Buffer): Buffer {
  const { hash } = SCHEMES[scheme]
  return hash === null ? Buffer.from(message) : createHash(hash).update(message).digest()
}

/** Whether a signature over `message` was made by the private key of `publicKey`. */
export function isSignature(
  signature: Buffer,
  message: Buffer,
  scheme: SignatureScheme,
  publicKey: KeyObject,
): boolean {
  const { hash, saltLength } = SCHEMES[scheme]
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const key = saltLength === undefined ? publicKey : { key: publicKey, padding, saltLength }
  return verify(hash, message, key, signature)
}

function fits({ keyType, curve, saltLength }: SchemeFacts, key: KeyObject): boolean {
  if (key.asymmetricKeyType !== keyType) return false
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (saltLength === undefined) return namedCurve === curve
  // RFC 8017, section 9.1.1: hash, salt and two bytes must have room below the modulus.
  return Math.ceil((modulusLength - 1) / 8) >= 2 * saltLength + 2
}
