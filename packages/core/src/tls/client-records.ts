import { unexpected } from './alert.ts'
import { MESSAGE, RECORD } from './constants.ts'
import { type HandshakeMessage, MessageJoiner } from './handshake-messages.ts'
import { type RecordProtection, RecordSplitter, type TlsRecord } from './records.ts'

/** How far OpenSSL's side of a handshake is. */
export type ClientState = 'following' | 'flight' | 'gaveUp'

/** More than OpenSSL writes in one go; what it writes after its flight waits for us. */
const MAX_HELD = 2 ** 20
/** An empty Certificate and a Finished need far less, also when each has a record of its own. */
const MAX_FLIGHT = 4096

/**
 * Sorts what OpenSSL wants to send: at once, or only after we are done with its last flight.
 *
 * A ClientHello goes to the server at once, and so does an alert, by which OpenSSL gives up. Encrypted
 * handshake messages are the flight: they are held, with everything after them.
 */
export class ClientRecords {
  /** The one or two ClientHellos. */
  readonly hellos: HandshakeMessage[] = []
  /** The messages of the flight, and its records as OpenSSL wrote them. */
  readonly flight: HandshakeMessage[] = []
  readonly #flightRecords: Buffer[] = []
  readonly #splitter = new RecordSplitter()
  readonly #joiner = new MessageJoiner()
  readonly #protect: () => RecordProtection
  #protection: RecordProtection | undefined
  #held: Buffer[] = []
  #heldLength = 0
  #state: ClientState = 'following'

  /** @param protect Makes what decrypts the flight; asked when its first record is there. */
  constructor(protect: () => RecordProtection) {
    this.#protect = protect
  }

  get state(): ClientState {
    return this.#state
  }

  /** The flight as OpenSSL wrote it. */
  get original(): Buffer {
    return Buffer.concat(this.#flightRecords)
  }

  /** @returns What may go to the server at once. */
  push(bytes: Buffer): Buffer[] {
    if (this.#state === 'gaveUp') return [bytes]
    if (this.#state === 'flight') return this.#hold(bytes)
    const forward: Buffer[] = []
    for (const record of this.#splitter.push(bytes)) {
      // The state changes as records are taken.
      if (this.state === 'flight') this.#hold(record.bytes)
      else if (this.state === 'gaveUp' || this.#take(record)) forward.push(record.bytes)
    }
    if (this.state === 'flight') this.#hold(this.#splitter.rest)
    if (this.state === 'gaveUp') forward.push(this.#splitter.rest)
    return forward
  }

  /** What OpenSSL wrote after its flight. */
  takeHeld(): Buffer {
    const held = Buffer.concat(this.#held)
    this.#held = []
    return held
  }

  wipe(): void {
    this.#protection?.wipe()
    for (const { bytes } of this.flight) bytes.fill(0)
  }

  /** @returns Whether it goes to the server at once. */
  #take(record: TlsRecord): boolean {
    if (record.type === RECORD.applicationData) return this.#takeEncrypted(record)
    if (this.flight.length > 0 || !this.#isAllowed(record)) {
      throw unexpected('OpenSSL interrupted its own message')
    }
    if (record.type === RECORD.alert) this.#state = 'gaveUp'
    if (record.type !== RECORD.handshake) return true
    for (const message of this.#joiner.push(record.fragment)) {
      if (message.type !== MESSAGE.clientHello || this.hellos.push(message) > 2) {
        throw unexpected('OpenSSL sent something else than a ClientHello')
      }
    }
    return true
  }

  #isAllowed({ type }: TlsRecord): boolean {
    return type === RECORD.handshake || this.#joiner.isBetween
  }

  #takeEncrypted(record: TlsRecord): boolean {
    this.#protection ??= this.#protect()
    const { type, content } = this.#protection.open(record)
    if (type === RECORD.alert && this.flight.length === 0 && this.#joiner.isBetween) {
      this.#state = 'gaveUp'
      return true
    }
    if (type !== RECORD.handshake) throw unexpected('OpenSSL interrupted its last flight')
    this.flight.push(...this.#joiner.push(content))
    this.#flightRecords.push(record.bytes)
    if (this.original.length > MAX_FLIGHT)
      throw unexpected('the last flight of OpenSSL is too long')
    if (this.flight.some((message) => message.type === MESSAGE.finished)) {
      if (!this.#joiner.isBetween) throw unexpected('a Finished of OpenSSL has an appendix')
      this.#state = 'flight'
    }
    return false
  }

  #hold(bytes: Buffer): [] {
    this.#heldLength += bytes.length
    if (this.#heldLength > MAX_HELD) throw unexpected('OpenSSL went on without an answer')
    if (bytes.length > 0) this.#held.push(bytes)
    return []
  }
}
