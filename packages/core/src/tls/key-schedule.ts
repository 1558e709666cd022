import { type CipherGCMTypes, createHash, createHmac, type Hash } from 'node:crypto'
import { handshakeMessage, uint8, uint16, vector8 } from './bytes.ts'
import { MESSAGE } from './constants.ts'

/** The key and the IV for the records of one direction. */
export interface RecordKeys {
  readonly key: Buffer
  readonly iv: Buffer
}

const IV_LENGTH = 12

/** Computes HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), up to the length of one hash. */
export function expandLabel(
  { hash, hashLength }: CipherSuite,
  secret: Uint8Array,
  label: string,
  length: number,
): Buffer {
  if (length > hashLength) throw new RangeError('the length is greater than that of the hash')
  const info = [uint16(length), vector8(Buffer.from(`tls13 ${label}`)), vector8()]
  // HKDF-Expand numbers its blocks from 1, and one block is enough.
  const block = createHmac(hash, secret)
    .update(Buffer.concat([...info, uint8(1)]))
    .digest()
  const expanded = Buffer.from(block.subarray(0, length))
  block.fill(0)
  return expanded
}

/** Derives the record keys from a traffic secret (section 7.3). */
export function recordKeys(suite: CipherSuite, trafficSecret: Uint8Array): RecordKeys {
  return {
    key: expandLabel(suite, trafficSecret, 'key', suite.keyLength),
    iv: expandLabel(suite, trafficSecret, 'iv', IV_LENGTH),
  }
}

/** Computes the verify_data of a Finished (section 4.4.4). */
export function verifyData(
  suite: CipherSuite,
  trafficSecret: Uint8Array,
  transcriptHash: Uint8Array,
): Buffer {
  const finishedKey = expandLabel(suite, trafficSecret, 'finished', suite.hashLength)
  const data = createHmac(suite.hash, finishedKey).update(transcriptHash).digest()
  finishedKey.fill(0)
  return data
}

/** The algorithms of a TLS 1.3 cipher suite. */
export interface CipherSuite {
  readonly aead: CipherGCMTypes | 'chacha20-poly1305'
  readonly keyLength: number
  readonly hash: 'sha256' | 'sha384'
  readonly hashLength: number
}

/** The suites that Node offers by default, by code point (RFC 8446, appendix B.4). */
const SUITES = new Map<number, CipherSuite>([
  [0x1301, { aead: 'aes-128-gcm', keyLength: 16, hash: 'sha256', hashLength: 32 }],
  [0x1302, { aead: 'aes-256-gcm', keyLength: 32, hash: 'sha384', hashLength: 48 }],
  [0x1303, { aead: 'chacha20-poly1305', keyLength: 32, hash: 'sha256', hashLength: 32 }],
])

/** Returns the suite with this code point, or undefined if it is not supported. */
export function cipherSuite(codePoint: number): CipherSuite | undefined {
  return SUITES.get(codePoint)
}

/** The transcript hash of a handshake (RFC 8446, section 4.4.1). */
export class Transcript {
  readonly #hash: Hash

  constructor({ hash }: Pick<CipherSuite, 'hash'>) {
    this.#hash = createHash(hash)
  }

  /** @param message Including its header. */
  add(message: Uint8Array): this {
    this.#hash.update(message)
    return this
  }

  /** Returns the hash of the messages added so far. */
  digest(): Buffer {
    return this.#hash.copy().digest()
  }

  /** Returns the hash as it would be after `messages`, without adding them. */
  digestWith(...messages: readonly Uint8Array[]): Buffer {
    const ahead = this.#hash.copy()
    for (const message of messages) ahead.update(message)
    return ahead.digest()
  }
}

/** Returns the message_hash that replaces the first ClientHello in the transcript after a HelloRetryRequest. */
export function messageHash({ hash }: Pick<CipherSuite, 'hash'>, clientHello: Uint8Array): Buffer {
  return handshakeMessage(MESSAGE.messageHash, createHash(hash).update(clientHello).digest())
}
