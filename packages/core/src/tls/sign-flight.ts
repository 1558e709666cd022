import { constants, createHash, type KeyObject, verify } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import {
  fitsKey,
  SCHEME_FACTS,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
  type SigningKey,
} from '../credential/signing-key.ts'
import { SignatureInvalidError } from '../errors/index.ts'
import { HandshakeError } from './alert.ts'
import { handshakeMessage, uint16, vector8, vector16, vector24 } from './bytes.ts'
import type { CertificateChain } from './certificate-chain.ts'
import { ALERT, MESSAGE, RECORD } from './constants.ts'
import type { CertificateRequest } from './handshake-messages.ts'
import type { TrackedHandshake } from './handshake-tracker.ts'
import { type Transcript, verifyData } from './key-schedule.ts'
import type { RecordProtection } from './records.ts'

/** A certificate chain and the key that signs for it. */
export interface SignedIdentity {
  readonly chain: CertificateChain
  readonly signingKey: SigningKey
}

/**
 * Builds the client's last flight: Certificate, CertificateVerify and Finished, encrypted.
 *
 * The signature is verified with the certificate before it is used.
 *
 * @throws {SignatureInvalidError} There is no signature, or it does not match the certificate.
 * @throws {HandshakeError} Server, certificate and key have no signature scheme in common.
 */
export async function signFlight(
  handshake: TrackedHandshake,
  request: CertificateRequest,
  { chain, signingKey }: SignedIdentity,
  protect: () => RecordProtection,
  signal: AbortSignal,
): Promise<Buffer> {
  const { transcript } = handshake
  const scheme = await chooseScheme(
    schemesFor(chain.publicKey, request.schemes),
    signingKey,
    signal,
  )
  const certificate = certificateMessage(chain.certificates)
  const message = messageToSign(transcript.add(certificate).digest())
  const digest = digestToSign(scheme, message)
  // The signing key gets a copy: it must not be able to change the message that is verified below.
  const signed = await signingKey.sign({ scheme, digest, message: Buffer.from(message), signal })
  const signature = isUint8Array(signed) ? Buffer.from(signed) : Buffer.alloc(0)
  if (!isSignature(signature, message, scheme, chain.publicKey)) throw wrongSignature(signature)
  signal.throwIfAborted()
  const verify = certificateVerifyMessage(scheme, signature)
  const finished = finishedMessage(handshake, transcript.add(verify))
  const protection = protect()
  const flight = protection.seal(RECORD.handshake, Buffer.concat([certificate, verify, finished]))
  protection.wipe()
  return flight
}

async function chooseScheme(
  schemes: readonly SignatureScheme[],
  signingKey: SigningKey,
  signal: AbortSignal,
): Promise<SignatureScheme> {
  if (schemes.length === 0) {
    throw new HandshakeError(
      ALERT.handshakeFailure,
      'the server accepts no signature scheme that the key of the certificate supports',
    )
  }
  const scheme = await signingKey.choose(schemes, signal)
  if (scheme === undefined) {
    throw new HandshakeError(
      ALERT.handshakeFailure,
      `the signing key supports none of the signature schemes that the server accepts (${schemes.join(', ')})`,
    )
  }
  if (!schemes.includes(scheme)) {
    throw new HandshakeError(
      ALERT.internalError,
      `the signing key chose ${scheme}, which is not one of ${schemes.join(', ')}`,
    )
  }
  return scheme
}

function wrongSignature(signature: Buffer): SignatureInvalidError {
  return new SignatureInvalidError(
    signature.length === 0
      ? 'the signing key returned no signature'
      : 'the signature was not made with the key of the certificate',
  )
}

/** The prefix of the content that a client signs (RFC 8446, section 4.4.3). */
const PREFIX = Buffer.from(`${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`, 'latin1')

/** Returns the offered schemes that fit the key, in the server's order of preference. */
function schemesFor(key: KeyObject, offered: readonly number[]): SignatureScheme[] {
  const names = Object.keys(SIGNATURE_SCHEMES) as SignatureScheme[]
  const byCodePoint = new Map(names.map((name) => [SIGNATURE_SCHEMES[name] as number, name]))
  const known = new Set(offered.flatMap((codePoint) => byCodePoint.get(codePoint) ?? []))
  return [...known].filter((scheme) => fitsKey(scheme, key))
}

/** Returns the content that a client signs in its CertificateVerify. */
export function messageToSign(transcriptHash: Uint8Array): Buffer {
  return Buffer.concat([PREFIX, transcriptHash])
}

/** Returns the digest, for signers that take only digests. Ed25519 has none: there it is the message. */
function digestToSign(scheme: SignatureScheme, message: Buffer): Buffer {
  const { hash } = SCHEME_FACTS[scheme]
  return hash === null ? Buffer.from(message) : createHash(hash).update(message).digest()
}

/** Whether `signature` is a valid signature over `message`. */
function isSignature(
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

/** Encodes a Certificate without context and extensions (RFC 8446, section 4.4.2). */
export function certificateMessage(certificates: readonly Uint8Array[]): Buffer {
  const entries = certificates.flatMap((der) => [vector24(der), vector16()])
  return handshakeMessage(MESSAGE.certificate, vector8(), vector24(...entries))
}

/** Encodes a CertificateVerify (section 4.4.3). */
export function certificateVerifyMessage(scheme: SignatureScheme, signature: Uint8Array): Buffer {
  const codePoint = uint16(SIGNATURE_SCHEMES[scheme])
  return handshakeMessage(MESSAGE.certificateVerify, codePoint, vector16(signature))
}

/** Encodes a Finished over the transcript (section 4.4.4). */
export function finishedMessage(
  { suite, secret }: Pick<TrackedHandshake, 'suite' | 'secret'>,
  transcript: Transcript,
): Buffer {
  return handshakeMessage(MESSAGE.finished, verifyData(suite, secret, transcript.digest()))
}
