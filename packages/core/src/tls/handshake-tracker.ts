import { timingSafeEqual } from 'node:crypto'
import { HandshakeError, malformed, unexpected } from './alert.ts'
import { ClientRecords, type ClientState } from './client-records.ts'
import { ALERT, MESSAGE, RECORD } from './constants.ts'
import {
  type CertificateRequest,
  type HandshakeMessage,
  MessageJoiner,
  readCertificateRequest,
  readServerHello,
  type ServerHello,
} from './handshake-messages.ts'
import { type CipherSuite, messageHash, Transcript, verifyData } from './key-schedule.ts'
import { RecordProtection, RecordSplitter, type TlsRecord } from './records.ts'
import { type Side, TrafficSecrets } from './traffic-secrets.ts'

/** A handshake up to the server's Finished, with a transcript that is verified against OpenSSL's. */
export interface TrackedHandshake {
  readonly suite: CipherSuite
  /** All messages up to and including the server's Finished. */
  readonly transcript: Transcript
  /** Undefined if the server sent no CertificateRequest. */
  readonly request: CertificateRequest | undefined
  /** The client_handshake_traffic_secret. `wipe` of the tracker overwrites it. */
  readonly secret: Buffer
}

/** Limit for what a server sends up to its Finished; OpenSSL's own limit is lower. */
const MAX_SERVER_BYTES = 2 ** 18
/** Where the random is in the body of a ClientHello. */
const RANDOM = { start: 2, end: 34 }
/** The body of a Certificate without certificates, which OpenSSL sends if it has none. */
const EMPTY_CERTIFICATE = Buffer.of(0, 0, 0, 0)

/**
 * Reconstructs the transcript and keys of OpenSSL's handshake from the bytes of both sides and the `keylog` lines.
 *
 * It is passive. What the server sends is buffered, and parsed only after OpenSSL has processed it: OpenSSL is always
 * the first to reject a server, and only bytes that it has accepted are parsed.
 */
export class HandshakeTracker {
  readonly #secrets = new TrafficSecrets()
  readonly #client = new ClientRecords(() => this.#protection('client'))
  #serverBytes: Buffer[] = []
  #serverLength = 0
  #hellos: ServerHellos | undefined

  get state(): ClientState {
    return this.#client.state
  }

  /** The last flight as OpenSSL wrote it. */
  get originalFlight(): Buffer {
    return this.#client.original
  }

  addKeylogLine(line: Buffer): void {
    this.#secrets.addKeylogLine(line)
  }

  /** Buffers what the server sends. */
  fromServer(bytes: Buffer): void {
    if (this.state !== 'handshaking' || this.#serverLength > MAX_SERVER_BYTES) return
    this.#serverLength += bytes.length
    this.#serverBytes.push(bytes)
  }

  /**
   * Takes what OpenSSL writes.
   *
   * @returns The bytes to send to the server at once.
   * @throws {HandshakeError} OpenSSL sends something unexpected.
   */
  fromClient(bytes: Buffer): Buffer[] {
    return this.#client.push(bytes)
  }

  /** Returns what OpenSSL wrote after its last flight, and forgets it. */
  takeHeld(): Buffer {
    return this.#client.takeHeld()
  }

  /**
   * Parses the whole handshake, once the last flight of OpenSSL is complete.
   *
   * OpenSSL's Finished is computed again: it matches only if this transcript and the one that OpenSSL has verified are
   * the same, byte for byte.
   *
   * @throws {HandshakeError} The handshake is not one that can be signed.
   */
  conclude(): TrackedHandshake {
    const { suite, retry, hello, encrypted } = this.#serverHellos()
    const protection = this.#protection('server')
    try {
      const messages = readServerFlight(encrypted, protection)
      const transcript = this.#startTranscript(suite, retry).add(hello.bytes)
      for (const message of messages) transcript.add(message.bytes)
      const request = messages.find(({ type }) => type === MESSAGE.certificateRequest)
      const secret = this.#secret('client', suite)
      const isRequested = request !== undefined
      checkFlight(this.#client.flight, { suite, transcript, secret, isRequested })
      return { suite, transcript, secret, request: request && readCertificateRequest(request) }
    } finally {
      protection.wipe()
    }
  }

  /** Returns a protection with the client's handshake keys, starting at sequence number 0. */
  clientProtection(): RecordProtection {
    return this.#protection('client')
  }

  /** Overwrites all secrets. */
  wipe(): void {
    this.#secrets.wipe()
    this.#client.wipe()
    this.#serverBytes = []
    this.#hellos = undefined
  }

  /** Starts the transcript with the ClientHello; after a HelloRetryRequest as RFC 8446, section 4.4.1 says. */
  #startTranscript(suite: CipherSuite, retry: HandshakeMessage | undefined): Transcript {
    const [first, second] = this.#client.hellos
    if (first === undefined || (second === undefined) !== (retry === undefined)) {
      throw unexpected('the number of ClientHellos does not match the HelloRetryRequest')
    }
    const transcript = new Transcript(suite)
    if (second === undefined || retry === undefined) return transcript.add(first.bytes)
    return transcript.add(messageHash(suite, first.bytes)).add(retry.bytes).add(second.bytes)
  }

  #serverHellos(): ServerHellos {
    if (this.#serverLength > MAX_SERVER_BYTES) {
      throw malformed(`the server's part of the handshake is longer than ${MAX_SERVER_BYTES} bytes`)
    }
    // Cached only once the flight is complete: until then more records may arrive.
    if (this.state !== 'flightComplete') return readServerHellos(Buffer.concat(this.#serverBytes))
    this.#hellos ??= readServerHellos(Buffer.concat(this.#serverBytes))
    return this.#hellos
  }

  #protection(side: Side): RecordProtection {
    const { suite } = this.#serverHellos()
    return new RecordProtection(suite, this.#secret(side, suite))
  }

  #secret(side: Side, { hashLength }: CipherSuite): Buffer {
    const random = this.#client.hellos[0]?.body.subarray(RANDOM.start, RANDOM.end)
    return this.#secrets.secret(side, random ?? Buffer.alloc(0), hashLength)
  }
}

interface FlightContext extends Pick<TrackedHandshake, 'suite' | 'transcript' | 'secret'> {
  /** Whether the server sent a CertificateRequest. */
  readonly isRequested: boolean
}

/** Checks that OpenSSL's last flight has the expected messages, and a Finished over the same transcript. */
function checkFlight(flight: readonly HandshakeMessage[], context: FlightContext): void {
  const { suite, transcript, secret, isRequested } = context
  const expected = isRequested ? [MESSAGE.certificate, MESSAGE.finished] : [MESSAGE.finished]
  if (flight.length !== expected.length || !flight.every(({ type }, at) => type === expected[at])) {
    throw unexpected('the last flight of OpenSSL has unexpected messages')
  }
  const before = flight.slice(0, -1)
  if (!before.every(({ body }) => body.equals(EMPTY_CERTIFICATE))) {
    throw unexpected('OpenSSL sent a certificate of its own')
  }
  const sent = flight.at(-1)?.body
  const hash = transcript.digestWith(...before.map(({ bytes }) => bytes))
  const computed = verifyData(suite, secret, hash)
  if (sent?.length !== computed.length || !timingSafeEqual(sent, computed)) {
    throw new HandshakeError(ALERT.internalError, 'the transcript differs from that of OpenSSL')
  }
}

/** The plaintext messages of a server, and the records after them. */
interface ServerHellos {
  readonly suite: CipherSuite
  /** The HelloRetryRequest, if the server sent one. */
  readonly retry: HandshakeMessage | undefined
  readonly hello: HandshakeMessage
  readonly encrypted: readonly TlsRecord[]
}

interface Hello extends ServerHello {
  readonly message: HandshakeMessage
}

/**
 * Reads the start of what a server sent: an optional HelloRetryRequest, then the ServerHello.
 *
 * @throws {HandshakeError} There is another message, or one is missing.
 */
function readServerHellos(bytes: Buffer): ServerHellos {
  const records = new RecordSplitter().push(bytes)
  const joiner = new MessageJoiner()
  let retry: Hello | undefined
  for (const [index, record] of withoutChangeCipherSpec(records, joiner)) {
    const hello = readHello(record, joiner)
    if (hello === undefined) continue
    checkRetry(retry, hello)
    if (hello.isRetry) retry = hello
    else {
      const { message, suite } = hello
      return { suite, retry: retry?.message, hello: message, encrypted: records.slice(index + 1) }
    }
  }
  throw unexpected('the server sent no ServerHello')
}

function readHello({ type, fragment }: TlsRecord, joiner: MessageJoiner): Hello | undefined {
  if (type !== RECORD.handshake) throw unexpected('the server did not start with a ServerHello')
  const [message, more] = joiner.push(fragment)
  if (message === undefined) return undefined
  if (message.type !== MESSAGE.serverHello) {
    throw unexpected('the server did not start with a ServerHello')
  }
  // The keys change after it, so a record boundary must follow (RFC 8446, section 5.1).
  if (more !== undefined || !joiner.isAtMessageEnd) {
    throw unexpected('the ServerHello is followed by more data in its record')
  }
  return { ...readServerHello(message), message }
}

function checkRetry(retry: Hello | undefined, hello: Hello): void {
  if (retry === undefined) return
  if (hello.isRetry) throw unexpected('the server sent two HelloRetryRequests')
  if (retry.suite !== hello.suite) {
    throw new HandshakeError(
      ALERT.illegalParameter,
      'the server changed the cipher suite after its HelloRetryRequest',
    )
  }
}

/**
 * Decrypts the messages that a server sends after its ServerHello, up to and including its Finished.
 *
 * Records after the Finished use the application keys and are not read.
 *
 * @throws {HandshakeError} Messages are missing, out of order or unknown.
 */
function readServerFlight(
  records: readonly TlsRecord[],
  protection: RecordProtection,
): readonly HandshakeMessage[] {
  const joiner = new MessageJoiner()
  const messages: HandshakeMessage[] = []
  for (const [, record] of withoutChangeCipherSpec(records, joiner)) {
    for (const message of joiner.push(openHandshake(record, protection))) {
      checkOrder(messages.at(-1), message)
      messages.push(message)
    }
    if (messages.at(-1)?.type !== MESSAGE.finished) continue
    if (!joiner.isAtMessageEnd)
      throw unexpected('the Finished is followed by more data in its record')
    return messages
  }
  throw unexpected('the server sent no Finished')
}

function openHandshake(record: TlsRecord, protection: RecordProtection): Buffer {
  if (record.type !== RECORD.applicationData)
    throw unexpected('the server sent an unencrypted record')
  const { type, content } = protection.open(record)
  if (type !== RECORD.handshake)
    throw unexpected('the server sent another record within its flight')
  return content
}

/** The first message, and what may follow each (RFC 8446, section 4). Without resumption, none may be left out. */
const FIRST: readonly number[] = [MESSAGE.encryptedExtensions]
const AFTER: ReadonlyMap<number, readonly number[]> = new Map([
  [MESSAGE.encryptedExtensions, [MESSAGE.certificateRequest, MESSAGE.certificate]],
  [MESSAGE.certificateRequest, [MESSAGE.certificate]],
  [MESSAGE.certificate, [MESSAGE.certificateVerify]],
  [MESSAGE.certificateVerify, [MESSAGE.finished]],
])

function checkOrder(last: HandshakeMessage | undefined, { type }: HandshakeMessage): void {
  const allowed = last === undefined ? FIRST : AFTER.get(last.type)
  if (allowed?.includes(type) !== true) {
    throw unexpected(`the server sent a message of type ${type} out of order`)
  }
}

/**
 * Skips change_cipher_spec records, which TLS 1.3 sends only for middlebox compatibility (RFC 8446, appendix D.4).
 *
 * @param joiner Knows whether a message is incomplete: no other record may interrupt it.
 * @yields The index of each other record, and the record.
 */
function* withoutChangeCipherSpec(
  records: readonly TlsRecord[],
  joiner: MessageJoiner,
): Generator<[number, TlsRecord]> {
  for (const [index, record] of records.entries()) {
    if (record.type !== RECORD.changeCipherSpec) yield [index, record]
    else if (!joiner.isAtMessageEnd)
      throw unexpected('a change_cipher_spec record is within a handshake message')
    else if (!record.fragment.equals(ONE))
      throw malformed('a change_cipher_spec record is malformed')
  }
}

const ONE = Buffer.of(1)
