import { unexpected } from './alert.ts'
import { MESSAGE, RECORD } from './constants.ts'
import { type HandshakeMessage, MessageJoiner } from './handshake-messages.ts'
import { type RecordProtection, RecordSplitter, type TlsRecord } from './records.ts'

/** The state of OpenSSL's side: still in the handshake, its last flight is complete, or it failed with an alert. */
export type ClientState = 'handshaking' | 'flightComplete' | 'failed'

/** More than OpenSSL writes at once; what it writes after its flight is held until the flight is sent. */
const MAX_HELD_BYTES = 2 ** 20
/** Far more than an empty Certificate and a Finished, even with a record for each. */
const MAX_FLIGHT_BYTES = 4096

/**
 * Splits what OpenSSL writes into what is sent at once and what is held back with its last flight.
 *
 * A ClientHello and an alert are sent at once. Encrypted handshake messages are OpenSSL's last flight: they are
 * held, and so is everything after them.
 */
export class ClientRecords {
  /** The ClientHello, and the second one after a HelloRetryRequest. */
  readonly hellos: HandshakeMessage[] = []
  /** The decrypted messages of the last flight. */
  readonly flight: HandshakeMessage[] = []
  readonly #flightRecords: Buffer[] = []
  readonly #splitter = new RecordSplitter()
  readonly #joiner = new MessageJoiner()
  readonly #protect: () => RecordProtection
  #protection: RecordProtection | undefined
  #held: Buffer[] = []
  #heldLength = 0
  #state: ClientState = 'handshaking'

  /** @param protect Creates the protection that decrypts the flight; called when its first record arrives. */
  constructor(protect: () => RecordProtection) {
    this.#protect = protect
  }

  get state(): ClientState {
    return this.#state
  }

  /** The records of the last flight as OpenSSL wrote them. */
  get original(): Buffer {
    return Buffer.concat(this.#flightRecords)
  }

  /** @returns The bytes to send to the server at once. */
  push(bytes: Buffer): Buffer[] {
    if (this.#state === 'failed') return [bytes]
    if (this.#state === 'flightComplete') return this.#hold(bytes)
    const forward: Buffer[] = []
    for (const record of this.#splitter.push(bytes)) {
      // Not a constant: #accept changes the state.
      if (this.state === 'flightComplete') this.#hold(record.bytes)
      else if (this.state === 'failed' || this.#accept(record)) forward.push(record.bytes)
    }
    if (this.state === 'flightComplete') this.#hold(this.#splitter.rest)
    if (this.state === 'failed') forward.push(this.#splitter.rest)
    return forward
  }

  /** Returns what OpenSSL wrote after its flight, and forgets it. */
  takeHeld(): Buffer {
    const held = Buffer.concat(this.#held)
    this.#held = []
    return held
  }

  /** Overwrites keys and decrypted messages. */
  wipe(): void {
    this.#protection?.wipe()
    for (const { bytes } of this.flight) bytes.fill(0)
  }

  /** @returns Whether the record is sent to the server at once. */
  #accept(record: TlsRecord): boolean {
    if (record.type === RECORD.applicationData) return this.#acceptEncrypted(record)
    if (this.flight.length > 0 || !this.#isAllowed(record)) {
      throw unexpected('OpenSSL sent another record within a handshake message')
    }
    if (record.type === RECORD.alert) this.#state = 'failed'
    if (record.type !== RECORD.handshake) return true
    for (const message of this.#joiner.push(record.fragment)) {
      if (message.type !== MESSAGE.clientHello || this.hellos.push(message) > 2) {
        throw unexpected('OpenSSL sent a plaintext message other than a ClientHello')
      }
    }
    return true
  }

  #isAllowed({ type }: TlsRecord): boolean {
    return type === RECORD.handshake || this.#joiner.isAtMessageEnd
  }

  #acceptEncrypted(record: TlsRecord): boolean {
    this.#protection ??= this.#protect()
    const { type, content } = this.#protection.open(record)
    if (type === RECORD.alert && this.flight.length === 0 && this.#joiner.isAtMessageEnd) {
      this.#state = 'failed'
      return true
    }
    if (type !== RECORD.handshake)
      throw unexpected('OpenSSL sent another record within its last flight')
    this.flight.push(...this.#joiner.push(content))
    this.#flightRecords.push(record.bytes)
    if (this.original.length > MAX_FLIGHT_BYTES)
      throw unexpected('the last flight of OpenSSL is too long')
    if (this.flight.some((message) => message.type === MESSAGE.finished)) {
      if (!this.#joiner.isAtMessageEnd)
        throw unexpected('the Finished of OpenSSL is followed by more data in its record')
      this.#state = 'flightComplete'
    }
    return false
  }

  #hold(bytes: Buffer): [] {
    this.#heldLength += bytes.length
    if (this.#heldLength > MAX_HELD_BYTES)
      throw unexpected('OpenSSL wrote too much after its last flight')
    if (bytes.length > 0) this.#held.push(bytes)
    return []
  }
}
