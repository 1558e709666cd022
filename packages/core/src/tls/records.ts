import { HandshakeProblem, malformed } from './handshake-problem.ts'
import { ALERT, RECORD } from './wire-numbers.ts'

/** One TLS record as it is on the wire. */
export interface TlsRecord {
  readonly type: number
  readonly header: Buffer
  readonly fragment: Buffer
  /** Header and fragment. */
  readonly bytes: Buffer
}

export const HEADER_LENGTH = 5
/** The most that a record may carry (RFC 8446, section 5.1). */
export const MAX_PLAINTEXT = 2 ** 14
/** The most that a record may be long when it is encrypted (section 5.2). */
export const MAX_CIPHERTEXT = MAX_PLAINTEXT + 256

/**
 * Cuts a stream of bytes into records, however it was split on its way.
 *
 * @throws {HandshakeProblem} What comes is no TLS record, or is longer than one may be.
 */
export class RecordSplitter {
  #pending: Buffer = Buffer.alloc(0)

  push(bytes: Buffer): TlsRecord[] {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    const records: TlsRecord[] = []
    for (
      let next = readRecord(this.#pending);
      next !== undefined;
      next = readRecord(this.#pending)
    ) {
      records.push(next)
      this.#pending = this.#pending.subarray(next.bytes.length)
    }
    return records
  }

  /** The beginning of a record whose end has not come yet. */
  get rest(): Buffer {
    return this.#pending
  }
}

function readRecord(bytes: Buffer): TlsRecord | undefined {
  if (bytes.length < HEADER_LENGTH) return undefined
  const type = bytes.readUInt8(0)
  // The minor version is 1 in a first ClientHello and 3 later; RFC 8446 tells us not to look at it.
  if (type < RECORD.changeCipherSpec || type > RECORD.applicationData || bytes[1] !== 3) {
    throw malformed('something that is no TLS record')
  }
  const length = bytes.readUInt16BE(3)
  const limit = type === RECORD.applicationData ? MAX_CIPHERTEXT : MAX_PLAINTEXT
  if (length > limit) throw new HandshakeProblem(ALERT.recordOverflow, 'a TLS record is too long')
  const end = HEADER_LENGTH + length
  if (bytes.length < end) return undefined
  return {
    type,
    header: bytes.subarray(0, HEADER_LENGTH),
    fragment: bytes.subarray(HEADER_LENGTH, end),
    bytes: bytes.subarray(0, end),
  }
}
