import { timingSafeEqual } from 'node:crypto'
import { HandshakeProblem, malformed, unexpected } from './alert.ts'
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
import { KeylogSecrets, type Side } from './traffic-secrets.ts'

/** A handshake up to the server's Finished, checked against OpenSSL's own view of it. */
export interface FollowedHandshake {
  readonly suite: CipherSuite
  /** All messages up to and with the server's Finished. */
  readonly transcript: Transcript
  /** Undefined when the server does not ask for a certificate. */
  readonly request: CertificateRequest | undefined
  /** The client's handshake traffic secret. It is wiped with the follower. */
  readonly secret: Buffer
}

/** What a server may send until its Finished is there; OpenSSL itself stops earlier. */
const MAX_SERVER_BYTES = 2 ** 18
const RANDOM = { start: 2, end: 34 }
/** No context and no certificates: what OpenSSL answers when it has none to show. */
const EMPTY_CERTIFICATE = Buffer.of(0, 0, 0, 0)

/**
 * Follows a handshake of OpenSSL from outside: what both sides send, and the secrets from the `keylog` event.
 *
 * It only reads. The server's side is recorded, and read when OpenSSL has: so OpenSSL is always the first to
 * refuse a server, and what we read is what it has accepted.
 */
export class HandshakeFollower {
  readonly #secrets = new KeylogSecrets()
  readonly #client = new ClientRecords(() => this.#protection('client'))
  #fromServer: Buffer[] = []
  #fromServerLength = 0
  #hellos: ServerHellos | undefined

  get state(): ClientState {
    return this.#client.state
  }

  /** The last flight of OpenSSL as it is. */
  get originalFlight(): Buffer {
    return this.#client.original
  }

  takeKeylog(line: Buffer): void {
    this.#secrets.take(line)
  }

  fromServer(bytes: Buffer): void {
    if (this.state !== 'following' || this.#fromServerLength > MAX_SERVER_BYTES) return
    this.#fromServerLength += bytes.length
    this.#fromServer.push(bytes)
  }

  /**
   * @returns What may go to the server at once.
   * @throws {HandshakeProblem} OpenSSL does something that we do not understand.
   */
  fromClient(bytes: Buffer): Buffer[] {
    return this.#client.push(bytes)
  }

  /** What OpenSSL wrote after its last flight. */
  takeHeld(): Buffer {
    return this.#client.takeHeld()
  }

  /**
   * Reads the whole handshake, when the last flight of OpenSSL is complete.
   *
   * OpenSSL's Finished is computed once more: only if our transcript is the one it has verified, byte for
   * byte, the two are the same.
   *
   * @throws {HandshakeProblem} The handshake is not one that we can take over.
   */
  conclude(): FollowedHandshake {
    const { suite, retry, hello, encrypted } = this.#readHellos()
    const protection = this.#protection('server')
    try {
      const messages = readServerFlight(encrypted, protection)
      const transcript = this.#begin(suite, retry).add(hello.bytes)
      for (const message of messages) transcript.add(message.bytes)
      const asking = messages.find(({ type }) => type === MESSAGE.certificateRequest)
      const secret = this.#secret('client', suite)
      checkFlight(this.#client.flight, { suite, transcript, secret, isAsked: asking !== undefined })
      return { suite, transcript, secret, request: asking && readCertificateRequest(asking) }
    } finally {
      protection.wipe()
    }
  }

  /** Encryption with the client's handshake key, from its first record. */
  protectClient(): RecordProtection {
    return this.#protection('client')
  }

  /** Forgets all secrets. */
  wipe(): void {
    this.#secrets.wipe()
    this.#client.wipe()
    this.#fromServer = []
    this.#hellos = undefined
  }

  /** Begins the transcript: the ClientHello, or its hash and what came before the second one. */
  #begin(suite: CipherSuite, retry: HandshakeMessage | undefined): Transcript {
    const [first, second] = this.#client.hellos
    if (first === undefined || (second === undefined) !== (retry === undefined)) {
      throw unexpected('the number of ClientHellos is wrong')
    }
    const transcript = new Transcript(suite)
    if (second === undefined || retry === undefined) return transcript.add(first.bytes)
    return transcript.add(messageHash(suite, first.bytes)).add(retry.bytes).add(second.bytes)
  }

  #readHellos(): ServerHellos {
    if (this.#fromServerLength > MAX_SERVER_BYTES) {
      throw malformed(`the server's handshake is longer than ${MAX_SERVER_BYTES} bytes`)
    }
    // Read anew until the flight is there: more records may have come.
    if (this.state !== 'flight') return readServerHellos(Buffer.concat(this.#fromServer))
    this.#hellos ??= readServerHellos(Buffer.concat(this.#fromServer))
    return this.#hellos
  }

  #protection(side: Side): RecordProtection {
    const { suite } = this.#readHellos()
    return new RecordProtection(suite, this.#secret(side, suite))
  }

  #secret(side: Side, { hashLength }: CipherSuite): Buffer {
    const random = this.#client.hellos[0]?.body.subarray(RANDOM.start, RANDOM.end)
    return this.#secrets.secret(side, random ?? Buffer.alloc(0), hashLength)
  }
}

interface Known extends Pick<FollowedHandshake, 'suite' | 'transcript' | 'secret'> {
  readonly isAsked: boolean
}

/** Checks that OpenSSL's last flight is what it must be, and says what we would say in its place. */
function checkFlight(flight: readonly HandshakeMessage[], known: Known): void {
  const { suite, transcript, secret, isAsked } = known
  const expected = isAsked ? [MESSAGE.certificate, MESSAGE.finished] : [MESSAGE.finished]
  if (flight.length !== expected.length || !flight.every(({ type }, at) => type === expected[at])) {
    throw unexpected('the last flight of OpenSSL has other messages than expected')
  }
  const before = flight.slice(0, -1)
  if (!before.every(({ body }) => body.equals(EMPTY_CERTIFICATE))) {
    throw unexpected('OpenSSL shows a certificate of its own')
  }
  const said = flight.at(-1)?.body
  const hash = transcript.digestWith(...before.map(({ bytes }) => bytes))
  const computed = verifyData(suite, secret, hash)
  if (said?.length !== computed.length || !timingSafeEqual(said, computed)) {
    throw new HandshakeProblem(
      ALERT.internalError,
      'the transcript is another than that of OpenSSL',
    )
  }
}

/** What a server says in the clear, and the records after it. */
interface ServerHellos {
  readonly suite: CipherSuite
  /** There only if the server asked the client to begin again. */
  readonly retry: HandshakeMessage | undefined
  readonly hello: HandshakeMessage
  readonly encrypted: readonly TlsRecord[]
}

interface Hello extends ServerHello {
  readonly message: HandshakeMessage
}

/**
 * Reads the beginning of what a server sent: a HelloRetryRequest perhaps, then its ServerHello.
 *
 * @throws {HandshakeProblem} Something else is there, or something is missing.
 */
function readServerHellos(bytes: Buffer): ServerHellos {
  const records = new RecordSplitter().push(bytes)
  const joiner = new MessageJoiner()
  let retry: Hello | undefined
  for (const [index, record] of withoutChangeCipherSpec(records, joiner)) {
    const hello = takeHello(record, joiner)
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

function takeHello({ type, fragment }: TlsRecord, joiner: MessageJoiner): Hello | undefined {
  if (type !== RECORD.handshake) throw unexpected('the server began with no ServerHello')
  const [message, more] = joiner.push(fragment)
  if (message === undefined) return undefined
  if (message.type !== MESSAGE.serverHello) throw unexpected('the server began with no ServerHello')
  // The keys change after it: nothing else may be in its last record.
  if (more !== undefined || !joiner.isBetween) throw unexpected('a ServerHello has an appendix')
  return { ...readServerHello(message), message }
}

function checkRetry(retry: Hello | undefined, hello: Hello): void {
  if (retry === undefined) return
  if (hello.isRetry) throw unexpected('the server asked twice to begin again')
  if (retry.suite !== hello.suite) {
    throw new HandshakeProblem(ALERT.illegalParameter, 'the server changed its cipher suite')
  }
}

/**
 * Decrypts what a server sends after its ServerHello, up to its Finished.
 *
 * What comes after that is for other keys, and not looked at.
 *
 * @throws {HandshakeProblem} Messages are missing, in another order, or others than these.
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
    if (!joiner.isBetween) throw unexpected('a Finished has an appendix')
    return messages
  }
  throw unexpected('the server sent no Finished')
}

function openHandshake(record: TlsRecord, protection: RecordProtection): Buffer {
  if (record.type !== RECORD.applicationData) throw unexpected('the server stopped to encrypt')
  const { type, content } = protection.open(record)
  if (type !== RECORD.handshake) throw unexpected('the server interrupted its handshake')
  return content
}

/** What may come first, and after each (RFC 8446, section 4); since no session is resumed, all must be there. */
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
    throw unexpected(`the server sent the message ${type} out of its turn`)
  }
}

/**
 * Leaves out the records that mean nothing in TLS 1.3, and are only there for boxes on the way (RFC 8446, appendix D.4).
 *
 * @param joiner Knows whether a message has begun: within one, no other record may come.
 * @yields The place of each other record, and the record.
 */
function* withoutChangeCipherSpec(
  records: readonly TlsRecord[],
  joiner: MessageJoiner,
): Generator<[number, TlsRecord]> {
  for (const [index, record] of records.entries()) {
    if (record.type !== RECORD.changeCipherSpec) yield [index, record]
    else if (!joiner.isBetween) throw unexpected('a message was interrupted by another record')
    else if (!record.fragment.equals(ONE)) throw malformed('an odd change of cipher spec')
  }
}

const ONE = Buffer.of(1)
