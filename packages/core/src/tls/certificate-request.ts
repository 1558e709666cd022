import { ByteReader } from './byte-reader.ts'
import { readExtensions } from './extensions.ts'
import { HandshakeProblem, malformed } from './handshake-problem.ts'
import type { HandshakeMessage } from './messages.ts'
import { ALERT, EXTENSION } from './wire-numbers.ts'

/** What a server says when it asks for a certificate. */
export interface CertificateRequest {
  /** Numbers of the signature schemes it accepts, best first. */
  readonly schemes: readonly number[]
}

const NAME = 'the CertificateRequest'

/** @throws {HandshakeProblem} It is malformed, or does not say which signatures the server accepts. */
export function readCertificateRequest({ body }: HandshakeMessage): CertificateRequest {
  const reader = new ByteReader(body, NAME)
  const context = reader.vector8()
  const algorithms = readExtensions(reader, NAME).get(EXTENSION.signatureAlgorithms)
  reader.end()
  // RFC 8446, section 4.3.2: only a request after the handshake has a context.
  if (context.length > 0) {
    throw new HandshakeProblem(ALERT.illegalParameter, `${NAME} has a context`)
  }
  if (algorithms === undefined) {
    throw new HandshakeProblem(ALERT.missingExtension, `${NAME} names no signature schemes`)
  }
  return { schemes: readSchemes(algorithms) }
}

function readSchemes(extension: Buffer): number[] {
  const reader = new ByteReader(extension, NAME)
  const list = new ByteReader(reader.vector16(), NAME)
  reader.end()
  const schemes: number[] = []
  while (!list.isAtEnd) schemes.push(list.uint16())
  if (schemes.length === 0) throw malformed(`${NAME} has an empty list of signature schemes`)
  return schemes
}
