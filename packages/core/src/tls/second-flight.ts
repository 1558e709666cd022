import { SIGNATURE_SCHEMES, type SignatureScheme } from '../protocol/signing-key.ts'
import { handshakeMessage, uint16, vector8, vector16, vector24 } from './byte-writer.ts'
import type { FollowedHandshake } from './handshake-follower.ts'
import { verifyData } from './key-schedule.ts'
import type { RecordProtection } from './record-protection.ts'
import type { Transcript } from './transcript.ts'
import { ALERT, type Alert, MESSAGE, RECORD } from './wire-numbers.ts'

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

/** Alerts as records, for the end of a handshake. */
export function sealAlert(protection: RecordProtection, alert: Alert): Buffer {
  if (alert !== ALERT.userCanceled) return protection.seal(RECORD.alert, Buffer.of(FATAL, alert))
  // Section 6.1: it only says why the close_notify after it comes so early.
  return Buffer.concat([
    protection.seal(RECORD.alert, Buffer.of(WARNING, ALERT.userCanceled)),
    protection.seal(RECORD.alert, Buffer.of(WARNING, ALERT.closeNotify)),
  ])
}

const WARNING = 1
const FATAL = 2
