import { isUint8Array } from 'node:util/types'
import { SignatureWrongError } from '../errors/index.ts'
import type { SignatureScheme, SigningKey } from '../protocol/signing-key.ts'
import type { CertificateChain } from './certificate-chain.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { digestToSign, isSignature, messageToSign, schemesFor } from './client-signature.ts'
import type { FollowedHandshake } from './handshake-follower.ts'
import { HandshakeProblem } from './handshake-problem.ts'
import type { RecordProtection } from './record-protection.ts'
import { certificateMessage, certificateVerifyMessage, finishedMessage } from './second-flight.ts'
import { ALERT, RECORD } from './wire-numbers.ts'

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
 * @throws {SignatureWrongError} The signature is none, or another key's.
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

function wrong(signature: Buffer): SignatureWrongError {
  return new SignatureWrongError(
    signature.length === 0
      ? 'the signing key gave no signature'
      : 'the signature was not made with the key of the certificate',
  )
}
