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
import { HandshakeProblem } from './alert.ts'
import { handshakeMessage, uint16, vector8, vector16, vector24 } from './bytes.ts'
import type { CertificateChain } from './certificate-chain.ts'
import { ALERT, MESSAGE, RECORD } from './constants.ts'
import type { CertificateRequest } from './handshake-messages.ts'
import type { FollowedHandshake } from './handshake-tracker.ts'
import { type Transcript, verifyData } from './key-schedule.ts'
import type { RecordProtection } from './records.ts'

/** Who signs, and for which certificate. */
export interface SignedIdentity {
  readonly chain: CertificateChain
  readonly signingKey: SigningKey
}

/**
 * Makes the flight by which a client shows its certificate: Certificate, CertificateVerify and Finished, encrypted.
 *
 * The signature is verified with the certificate before anything is made of it.
 *
 * @throws {SignatureInvalidError} The signature is none, or another key's.
 * @throws {HandshakeProblem} There is no scheme that server, certificate and key have in common.
 */
export async function signFlight(
  handshake: FollowedHandshake,
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
  // The signer gets a copy of its own: what we verify is what the server will verify.
  const signed = await signingKey.sign({ scheme, digest, message: Buffer.from(message), signal })
  const signature = isUint8Array(signed) ? Buffer.from(signed) : Buffer.alloc(0)
  if (!isSignature(signature, message, scheme, chain.publicKey)) throw wrong(signature)
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
    throw new HandshakeProblem(
      ALERT.handshakeFailure,
      'the server accepts no signature that goes with the certificate',
    )
  }
  const scheme = await signingKey.choose(schemes, signal)
  if (scheme === undefined) {
    throw new HandshakeProblem(
      ALERT.handshakeFailure,
      `the key can make no signature that the server accepts (${schemes.join(', ')})`,
    )
  }
  if (!schemes.includes(scheme)) {
    throw new HandshakeProblem(
      ALERT.internalError,
      `the key wants to sign with ${scheme}, which is not among ${schemes.join(', ')}`,
    )
  }
  return scheme
}

function wrong(signature: Buffer): SignatureInvalidError {
  return new SignatureInvalidError(
    signature.length === 0
      ? 'the signing key gave no signature'
      : 'the signature was not made with the key of the certificate',
  )
}

/** What is before the transcript in what a client signs (RFC 8446, section 4.4.3). */
const PREFIX = Buffer.from(`${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`, 'latin1')

/** The schemes among `offered` that go with the key, in the order of the server: it names its best first. */
function schemesFor(key: KeyObject, offered: readonly number[]): SignatureScheme[] {
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
function digestToSign(scheme: SignatureScheme, message: Buffer): Buffer {
  const { hash } = SCHEME_FACTS[scheme]
  return hash === null ? Buffer.from(message) : createHash(hash).update(message).digest()
}

/** Whether a signature over `message` was made by the private key of `publicKey`. */
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

/** A Certificate (RFC 8446, section 4.4.2): no context, no extensions. */
export function certificateMessage(certificates: readonly Uint8Array[]): Buffer {
  const entries = certificates.flatMap((der) => [vector24(der), vector16()])
  return handshakeMessage(MESSAGE.certificate, vector8(), vector24(...entries))
}

/** A CertificateVerify (section 4.4.3). */
export function certificateVerifyMessage(scheme: SignatureScheme, signature: Uint8Array): Buffer {
  const number = uint16(SIGNATURE_SCHEMES[scheme])
  return handshakeMessage(MESSAGE.certificateVerify, number, vector16(signature))
}

/** A Finished over everything in the transcript (section 4.4.4). */
export function finishedMessage(
  { suite, secret }: Pick<FollowedHandshake, 'suite' | 'secret'>,
  transcript: Transcript,
): Buffer {
  return handshakeMessage(MESSAGE.finished, verifyData(suite, secret, transcript.digest()))
}
