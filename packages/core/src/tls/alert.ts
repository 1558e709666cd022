import { ALERT, type Alert } from './constants.ts'

/** TLS alerts that say: your certificate, not your request. */
const REFUSALS =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

/** The alert by which a server refused our certificate, or undefined. */
export function certificateAlert(error: unknown): string | undefined {
  const { code = '' } = (error ?? {}) as { code?: string }
  return REFUSALS.exec(code)?.[0].slice('ALERT_'.length).toLowerCase().replaceAll('_', ' ')
}

/**
 * Says what such an alert means if it came before the server could have seen a certificate of ours: nothing about it.
 *
 * @returns The error as it was, if it is no alert.
 */
export function explainEarlyAlert(error: unknown): unknown {
  const alert = certificateAlert(error)
  if (alert === undefined) return error
  const message = `it ended the TLS handshake with the alert "${alert}" before it was shown a certificate`
  return new Error(message, { cause: error })
}

/**
 * A handshake that is not followed any further.
 *
 * It stays inside this folder: whoever connects hears it as `HandshakeNotSignedError`.
 */
export class HandshakeProblem extends Error {
  /** What the server is told. */
  readonly alert: Alert

  constructor(alert: Alert, message: string) {
    super(message)
    this.name = 'HandshakeProblem'
    this.alert = alert
  }
}

/** Bytes that are not what RFC 8446 says they must be. */
export function malformed(what: string): HandshakeProblem {
  return new HandshakeProblem(ALERT.decodeError, what)
}

/** A message or record at a place where it may not be. */
export function unexpected(what: string): HandshakeProblem {
  return new HandshakeProblem(ALERT.unexpectedMessage, what)
}
