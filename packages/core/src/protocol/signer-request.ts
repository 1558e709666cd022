import type { Secret } from '../secret/secret.ts'
import { encodeBytes } from './base64.ts'
import { SIGNER_API_VERSION, SIGNER_KINDS } from './signer-wire.ts'
import type { SignatureScheme } from './signing-key.ts'

/** Whose words are spoken: the specification's, or those of the only plugin that was published (2020). */
export type SignerProtocol = keyof typeof SIGNER_KINDS

/** The parameters of the auth-provider, all of them, as they are told to the signer. */
export type SignerParameters = ReadonlyMap<string, Secret>

export interface SignerDialect {
  readonly protocol: SignerProtocol
  readonly parameters: SignerParameters
}

/** What is to be signed, and how. */
export interface ToSign {
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array
}

/** Asks for the certificate: one line of JSON. It holds the PIN, so it is a secret. */
export function encodeCertificateRequest({ protocol, parameters }: SignerDialect): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].certificateRequest,
    configuration: configurationOf(parameters),
  })
}

/**
 * Asks for a signature: one line of JSON. It holds the PIN, so it is a secret.
 *
 * @param withMessage Adds what the digest was made of. The specification has no place for it, so that it is
 *   part of lines only; a request in a variable has a variable beside it.
 */
export function encodeSignRequest(
  { protocol, parameters }: SignerDialect,
  { scheme, digest, message }: ToSign,
  withMessage = false,
): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].signRequest,
    // Ed25519 hashes by itself: what Go's signers are given as the digest is the message then.
    digest: encodeBytes(scheme === 'ed25519' ? message : digest),
    configuration: configurationOf(parameters),
    ...SIGNER_OPTIONS[scheme],
    ...(withMessage && { message: encodeBytes(message) }),
  })
}

/** In Go's order, which is that of the names. */
function configurationOf(parameters: SignerParameters): Record<string, string> {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  // Names such as `__proto__` are names like any other here.
  return Object.fromEntries(sorted.map(([name, value]) => [name, value.expose()]))
}

/** What Go's crypto/tls hands to a signer: the type of its options, and the options as JSON in a string. */
interface SignerOptions {
  readonly signerOptsType: string
  readonly signerOpts: string
}

/** Numbers of Go's `crypto.Hash`. */
const SHA256 = 5
const SHA384 = 6
const SHA512 = 7
const NONE = 0

const plain = (hash: number): SignerOptions => ({
  signerOptsType: 'crypto.Hash',
  signerOpts: String(hash),
})

/** A salt length of -1 is one as long as the hash. */
const pss = (hash: number): SignerOptions => ({
  signerOptsType: '*rsa.PSSOptions',
  signerOpts: JSON.stringify({ SaltLength: -1, Hash: hash }),
})

const SIGNER_OPTIONS: Readonly<Record<SignatureScheme, SignerOptions>> = {
  rsa_pss_rsae_sha256: pss(SHA256),
  rsa_pss_rsae_sha384: pss(SHA384),
  rsa_pss_rsae_sha512: pss(SHA512),
  ecdsa_secp256r1_sha256: plain(SHA256),
  ecdsa_secp384r1_sha384: plain(SHA384),
  ecdsa_secp521r1_sha512: plain(SHA512),
  ed25519: plain(NONE),
}
