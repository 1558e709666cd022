import { ALERT, type Alert } from './constants.ts'

/** Alerts with which a server rejects the client certificate (RFC 8446, section 6.2), as OpenSSL names them. */
const REFUSALS =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

/** Returns the alert with which the server refused the client certificate, or undefined for any other error. */
export function certificateAlert(error: unknown): string | undefined {
  const { code = '' } = (error ?? {}) as { code?: string }
  return REFUSALS.exec(code)?.[0].slice('ALERT_'.length).toLowerCase().replaceAll('_', ' ')
}

/**
 * Replaces a certificate alert that arrived before the client sent its Certificate message.
 *
 * Such an alert says nothing about the client certificate, so it must not count as a refusal.
 *
 * @returns The same error, if it is not an alert.
 */
export function explainEarlyAlert(error: unknown): unknown {
  const alert = certificateAlert(error)
  if (alert === undefined) return error
  const message = `it ended the TLS handshake with the alert "${alert}" before the client sent a certificate`
  return new Error(message, { cause: error })
}

/**
 * Thrown when a handshake cannot be signed.
 *
 * It does not leave this folder: `connectSigned` rejects with a `HandshakeNotSignedError` instead.
 */
export class HandshakeError extends Error {
  /** The alert to send to the server. */
  readonly alert: Alert

  constructor(alert: Alert, message: string) {
    super(message)
    this.name = 'HandshakeError'
    this.alert = alert
  }
}

/** Returns the error for bytes that violate the syntax of RFC 8446. */
export function malformed(what: string): HandshakeError {
  return new HandshakeError(ALERT.decodeError, what)
}

/** Returns the error for a message or record that is not allowed at this point of the handshake. */
export function unexpected(what: string): HandshakeError {
  return new HandshakeError(ALERT.unexpectedMessage, what)
}
