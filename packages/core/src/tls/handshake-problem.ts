import { ALERT, type Alert } from './wire-numbers.ts'

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
