import { timingSafeEqual } from 'node:crypto'
import { type CertificateRequest, readCertificateRequest } from './certificate-request.ts'
import type { CipherSuite } from './cipher-suites.ts'
import { ClientRecords, type ClientState } from './client-records.ts'
import { HandshakeProblem, malformed, unexpected } from './handshake-problem.ts'
import { verifyData } from './key-schedule.ts'
import { KeylogSecrets, type Side } from './keylog-secrets.ts'
import type { HandshakeMessage } from './messages.ts'
import { RecordProtection } from './record-protection.ts'
import { readServerFlight } from './server-flight.ts'
import { readServerHellos, type ServerHellos } from './server-hellos.ts'
import { messageHash, Transcript } from './transcript.ts'
import { ALERT, MESSAGE } from './wire-numbers.ts'

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
