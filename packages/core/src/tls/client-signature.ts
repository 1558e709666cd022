import { constants, createHash, type KeyObject, verify } from 'node:crypto'
import {
  fitsKey,
  SCHEME_FACTS,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
} from '../protocol/signing-key.ts'

/** What is before the transcript in what a client signs (RFC 8446, section 4.4.3). */
const PREFIX = Buffer.from(`${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`, 'latin1')

/** The schemes among `offered` that go with the key, in the order of the server: it names its best first. */
export function schemesFor(key: KeyObject, offered: readonly number[]): SignatureScheme[] {
  const names = Object.keys(SIGNATURE_SCHEMES) as SignatureScheme[]
  const known = new Map(names.map((name) => [SIGNATURE_SCHEMES[name] as number, name]))
  const wanted = new Set(offered.flatMap((number) => known.get(number) ?? []))
  return [...wanted].filter((scheme) => fitsKey(scheme, key))
}

/** What a client signs to show that it has the key of its certificate. */
export function messageToSign(transcriptHash: Uint8Array): Buffer {
  return Buffer.concat([PREFIX, transcriptHash])
}

/** What a signer that takes only digests signs; Ed25519 has none. */
export function digestToSign(scheme: SignatureScheme, message: Buffer): Buffer {
  const { hash } = SCHEME_FACTS[scheme]
  return hash === null ? Buffer.from(message) : createHash(hash).update(message).digest()
}

/** Whether a signature over `message` was made by the private key of `publicKey`. */
export function isSignature(
  signature: Buffer,
  message: Buffer,
  scheme: SignatureScheme,
  publicKey: KeyObject,
): boolean {
  const { hash, saltLength } = SCHEME_FACTS[scheme]
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const key = saltLength === undefined ? publicKey : { key: publicKey, padding, saltLength }
  return verify(hash, message, key, signature)
}
