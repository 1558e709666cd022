import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto'
import { uint8, uint16 } from './byte-writer.ts'
import type { CipherSuite } from './cipher-suites.ts'
import { HandshakeProblem, malformed } from './handshake-problem.ts'
import { type RecordKeys, recordKeys } from './key-schedule.ts'
import { MAX_PLAINTEXT, type TlsRecord } from './records.ts'
import { ALERT, RECORD } from './wire-numbers.ts'

/** What was in an encrypted record. */
export interface OpenedRecord {
  readonly type: number
  readonly content: Buffer
}

const TAG_LENGTH = 16
const LEGACY_VERSION = 0x0303

/** Encrypts or decrypts the records of one direction, in their order (RFC 8446, section 5.2). */
export class RecordProtection {
  readonly #suite: CipherSuite
  readonly #keys: RecordKeys
  #sequence = 0n

  constructor(suite: CipherSuite, trafficSecret: Uint8Array) {
    this.#suite = suite
    this.#keys = recordKeys(suite, trafficSecret)
  }

  /** @throws {HandshakeProblem} It was not encrypted with this key at this place. */
  open({ header, fragment }: TlsRecord): OpenedRecord {
    if (fragment.length <= TAG_LENGTH) throw malformed('an encrypted record is too short')
    const decipher = this.#cipher(createDecipheriv) as DecipherGCM
    decipher.setAAD(header, { plaintextLength: fragment.length - TAG_LENGTH })
    decipher.setAuthTag(fragment.subarray(-TAG_LENGTH))
    const inner = decipher.update(fragment.subarray(0, -TAG_LENGTH))
    try {
      decipher.final()
    } catch {
      throw new HandshakeProblem(ALERT.decryptError, 'a record cannot be decrypted')
    }
    return withoutPadding(inner)
  }

  /** Encrypts `content` into as many records as it needs. */
  seal(type: number, content: Buffer): Buffer {
    const records: Buffer[] = []
    for (let at = 0; at < content.length; at += MAX_PLAINTEXT) {
      records.push(this.#sealOne(type, content.subarray(at, at + MAX_PLAINTEXT)))
    }
    return Buffer.concat(records)
  }

  /** Forgets the keys. */
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

  /** GCM and Poly1305 are used alike, which the types of Node do not know. */
  #cipher(create: typeof createCipheriv | typeof createDecipheriv): unknown {
    const options = { authTagLength: TAG_LENGTH }
    return create(this.#suite.aead as 'aes-128-gcm', this.#keys.key, this.#nonce(), options)
  }

  /** The number of the record, mixed into the vector, so that no nonce comes twice. */
  #nonce(): Buffer {
    const nonce = Buffer.from(this.#keys.iv)
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence, 4)
    this.#sequence += 1n
    return nonce
  }
}

/** The last byte that is not zero is the type (section 5.4). */
function withoutPadding(inner: Buffer): OpenedRecord {
  let end = inner.length - 1
  while (end >= 0 && inner[end] === 0) end -= 1
  const type = inner[end]
  if (type === undefined) throw malformed('an encrypted record holds only padding')
  if (end > MAX_PLAINTEXT) {
    throw new HandshakeProblem(ALERT.recordOverflow, 'an encrypted record holds too much')
  }
  return { type, content: inner.subarray(0, end) }
}
