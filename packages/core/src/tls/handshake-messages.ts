import { HandshakeError, malformed } from './alert.ts'
import { ByteReader, ByteReader as Reader } from './bytes.ts'
import { ALERT, EXTENSION, TLS_1_3 } from './constants.ts'
import { type CipherSuite, cipherSuite } from './key-schedule.ts'

/** One handshake message. */
export interface HandshakeMessage {
  readonly type: number
  readonly body: Buffer
  /** Type, length and body, as in the transcript. */
  readonly bytes: Buffer
}

const HEADER_LENGTH = 4
/** More than OpenSSL accepts for the Certificate of a server, which is the longest message. */
const MAX_MESSAGE_BYTES = 2 ** 17

/**
 * Reassembles handshake messages: a record may hold several, and one may span many records.
 *
 * @throws {HandshakeError} A fragment is empty, or a message is too long.
 */
export class MessageJoiner {
  #pending: Buffer = Buffer.alloc(0)

  push(fragment: Buffer): HandshakeMessage[] {
    if (fragment.length === 0) throw malformed('a handshake record is empty')
    this.#pending = this.#pending.length === 0 ? fragment : Buffer.concat([this.#pending, fragment])
    const messages: HandshakeMessage[] = []
    for (
      let next = readMessage(this.#pending);
      next !== undefined;
      next = readMessage(this.#pending)
    ) {
      messages.push(next)
      this.#pending = this.#pending.subarray(next.bytes.length)
    }
    return messages
  }

  /** Whether no message is incomplete. Only then may another record type follow, or the keys change. */
  get isAtMessageEnd(): boolean {
    return this.#pending.length === 0
  }
}

function readMessage(bytes: Buffer): HandshakeMessage | undefined {
  if (bytes.length < HEADER_LENGTH) return undefined
  const length = bytes.readUIntBE(1, 3)
  if (length > MAX_MESSAGE_BYTES) throw malformed('a handshake message is too long')
  const end = HEADER_LENGTH + length
  if (bytes.length < end) return undefined
  return {
    type: bytes.readUInt8(0),
    body: bytes.subarray(HEADER_LENGTH, end),
    bytes: bytes.subarray(0, end),
  }
}

/** Reads a list of extensions, each of which may occur once (RFC 8446, section 4.2). */
function readExtensions(message: ByteReader, name: string): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>()
  const list = new Reader(message.vector16(), name)
  while (!list.isAtEnd) {
    const type = list.uint16()
    if (found.has(type)) {
      throw new HandshakeError(ALERT.illegalParameter, `${name} has a duplicate extension`)
    }
    found.set(type, list.vector16())
  }
  return found
}

/** The fields of a ServerHello that are used. */
export interface ServerHello {
  /** Whether it is a HelloRetryRequest. */
  readonly isRetry: boolean
  readonly suite: CipherSuite
}

const SERVER_HELLO = 'the ServerHello'
const RANDOM_LENGTH = 32
/** The random of a ServerHello that is a HelloRetryRequest (RFC 8446, section 4.1.3). */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')

/**
 * Reads a ServerHello or HelloRetryRequest.
 *
 * @throws {HandshakeError} It is not TLS 1.3, resumes a session, or has an unsupported cipher suite.
 */
export function readServerHello({ body }: HandshakeMessage): ServerHello {
  const reader = new ByteReader(body, SERVER_HELLO)
  reader.uint16()
  const isRetry = reader.take(RANDOM_LENGTH).equals(RETRY)
  reader.vector8()
  const suite = cipherSuite(reader.uint16())
  const compression = reader.uint8()
  const extensions = readExtensions(reader, SERVER_HELLO)
  reader.end()
  if (extensions.get(EXTENSION.supportedVersions)?.equals(VERSION) !== true) {
    throw illegal('the server does not speak TLS 1.3')
  }
  if (suite === undefined) throw illegal('the server chose an unsupported cipher suite')
  if (compression !== 0) throw illegal('the server chose a compression method')
  if (extensions.has(EXTENSION.preSharedKey)) throw illegal('the server resumed a session')
  return { isRetry, suite }
}

const VERSION = Buffer.of(TLS_1_3 >> 8, TLS_1_3 & 0xff)

function illegal(what: string): HandshakeError {
  return new HandshakeError(ALERT.illegalParameter, what)
}

/** The fields of a CertificateRequest that are used. */
export interface CertificateRequest {
  /** Code points of the signature schemes that the server accepts, most preferred first. */
  readonly schemes: readonly number[]
}

const CERTIFICATE_REQUEST = 'the CertificateRequest'

/**
 * Reads a CertificateRequest.
 *
 * @throws {HandshakeError} It is malformed, or has no signature_algorithms extension.
 */
export function readCertificateRequest({ body }: HandshakeMessage): CertificateRequest {
  const reader = new ByteReader(body, CERTIFICATE_REQUEST)
  const context = reader.vector8()
  const algorithms = readExtensions(reader, CERTIFICATE_REQUEST).get(EXTENSION.signatureAlgorithms)
  reader.end()
  // RFC 8446, section 4.3.2: only a post-handshake request has a context.
  if (context.length > 0) {
    throw new HandshakeError(ALERT.illegalParameter, `${CERTIFICATE_REQUEST} has a context`)
  }
  if (algorithms === undefined) {
    throw new HandshakeError(
      ALERT.missingExtension,
      `${CERTIFICATE_REQUEST} has no signature_algorithms`,
    )
  }
  return { schemes: readSchemes(algorithms) }
}

function readSchemes(extension: Buffer): number[] {
  const reader = new ByteReader(extension, CERTIFICATE_REQUEST)
  const list = new ByteReader(reader.vector16(), CERTIFICATE_REQUEST)
  reader.end()
  const schemes: number[] = []
  while (!list.isAtEnd) schemes.push(list.uint16())
  if (schemes.length === 0) throw malformed(`${CERTIFICATE_REQUEST} has empty signature_algorithms`)
  return schemes
}
