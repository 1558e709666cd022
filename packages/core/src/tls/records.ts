import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto'
import { HandshakeError, malformed } from './alert.ts'
import { uint8, uint16 } from './bytes.ts'
import { ALERT, type Alert, RECORD } from './constants.ts'
import { type CipherSuite, type RecordKeys, recordKeys } from './key-schedule.ts'

/** One TLS record as sent over the connection. */
export interface TlsRecord {
  readonly type: number
  readonly header: Buffer
  readonly fragment: Buffer
  /** Header and fragment. */
  readonly bytes: Buffer
}

const HEADER_LENGTH = 5
/** The limit of TLSPlaintext.length (RFC 8446, section 5.1). */
const MAX_PLAINTEXT = 2 ** 14
/** The limit of TLSCiphertext.length (section 5.2). */
const MAX_CIPHERTEXT = MAX_PLAINTEXT + 256

/**
 * Splits a stream of bytes into records, whatever the sizes of its chunks.
 *
 * @throws {HandshakeError} The bytes are not a TLS record, or the record is too long.
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

  /** The start of a record that is not complete yet. */
  get rest(): Buffer {
    return this.#pending
  }
}

function readRecord(bytes: Buffer): TlsRecord | undefined {
  if (bytes.length < HEADER_LENGTH) return undefined
  const type = bytes.readUInt8(0)
  // The minor version is 1 in a first ClientHello and 3 later; RFC 8446 says to ignore legacy_record_version.
  if (type < RECORD.changeCipherSpec || type > RECORD.applicationData || bytes[1] !== 3) {
    throw malformed('the bytes are not a TLS record')
  }
  const length = bytes.readUInt16BE(3)
  const limit = type === RECORD.applicationData ? MAX_CIPHERTEXT : MAX_PLAINTEXT
  if (length > limit) throw new HandshakeError(ALERT.recordOverflow, 'a TLS record is too long')
  const end = HEADER_LENGTH + length
  if (bytes.length < end) return undefined
  return {
    type,
    header: bytes.subarray(0, HEADER_LENGTH),
    fragment: bytes.subarray(HEADER_LENGTH, end),
    bytes: bytes.subarray(0, end),
  }
}

/** The content of an encrypted record (TLSInnerPlaintext). */
interface InnerPlaintext {
  readonly type: number
  readonly content: Buffer
}

const TAG_LENGTH = 16
const LEGACY_VERSION = 0x0303

/** Encrypts or decrypts the records of one direction, in order (RFC 8446, section 5.2). */
export class RecordProtection {
  readonly #suite: CipherSuite
  readonly #keys: RecordKeys
  #sequence = 0n

  constructor(suite: CipherSuite, trafficSecret: Uint8Array) {
    this.#suite = suite
    this.#keys = recordKeys(suite, trafficSecret)
  }

  /**
   * Decrypts a record.
   *
   * @throws {HandshakeError} It was not encrypted with these keys and this sequence number.
   */
  open({ header, fragment }: TlsRecord): InnerPlaintext {
    if (fragment.length <= TAG_LENGTH) throw malformed('an encrypted record is too short')
    const decipher = this.#cipher(createDecipheriv) as DecipherGCM
    decipher.setAAD(header, { plaintextLength: fragment.length - TAG_LENGTH })
    decipher.setAuthTag(fragment.subarray(-TAG_LENGTH))
    const inner = decipher.update(fragment.subarray(0, -TAG_LENGTH))
    try {
      decipher.final()
    } catch {
      throw new HandshakeError(ALERT.decryptError, 'a record cannot be decrypted')
    }
    return withoutPadding(inner)
  }

  /** Encrypts `content`, in as many records as necessary. */
  seal(type: number, content: Buffer): Buffer {
    const records: Buffer[] = []
    for (let at = 0; at < content.length; at += MAX_PLAINTEXT) {
      records.push(this.#sealOne(type, content.subarray(at, at + MAX_PLAINTEXT)))
    }
    return Buffer.concat(records)
  }

  /** Overwrites the keys. */
  wipe(): void {
    this.#keys.key.fill(0)
    this.#keys.iv.fill(0)
  }

  #sealOne(type: number, content: Buffer): Buffer {
    const length = content.length + 1
    const start = [
      uint8(RECORD.applicationData),
      uint16(LEGACY_VERSION),
      uint16(length + TAG_LENGTH),
    ]
    const header = Buffer.concat(start)
    const cipher = this.#cipher(createCipheriv) as CipherGCM
    cipher.setAAD(header, { plaintextLength: length })
    const sealed = [cipher.update(content), cipher.update(uint8(type)), cipher.final()]
    return Buffer.concat([header, ...sealed, cipher.getAuthTag()])
  }

  /** GCM and ChaCha20-Poly1305 have the same API, which Node's types do not express. */
  #cipher(create: typeof createCipheriv | typeof createDecipheriv): unknown {
    const options = { authTagLength: TAG_LENGTH }
    return create(this.#suite.aead as 'aes-128-gcm', this.#keys.key, this.#nonce(), options)
  }

  /** Computes the per-record nonce: the sequence number XOR the IV (section 5.3). */
  #nonce(): Buffer {
    const nonce = Buffer.from(this.#keys.iv)
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence, 4)
    this.#sequence += 1n
    return nonce
  }
}

/** Removes the padding: the last byte that is not zero is the content type (section 5.4). */
function withoutPadding(inner: Buffer): InnerPlaintext {
  let end = inner.length - 1
  while (end >= 0 && inner[end] === 0) end -= 1
  const type = inner[end]
  if (type === undefined) throw malformed('an encrypted record contains only padding')
  if (end > MAX_PLAINTEXT) {
    throw new HandshakeError(ALERT.recordOverflow, 'the content of an encrypted record is too long')
  }
  return { type, content: inner.subarray(0, end) }
}

/** Encrypts the alert that ends a handshake. */
export function sealAlert(protection: RecordProtection, alert: Alert): Buffer {
  if (alert !== ALERT.userCanceled) return protection.seal(RECORD.alert, Buffer.of(FATAL, alert))
  // Section 6.1: user_canceled is a warning, and a close_notify follows it.
  return Buffer.concat([
    protection.seal(RECORD.alert, Buffer.of(WARNING, ALERT.userCanceled)),
    protection.seal(RECORD.alert, Buffer.of(WARNING, ALERT.closeNotify)),
  ])
}

const WARNING = 1
const FATAL = 2
