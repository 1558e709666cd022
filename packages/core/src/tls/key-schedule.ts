import { createHmac } from 'node:crypto'
import { uint8, uint16, vector8 } from './byte-writer.ts'
import type { CipherSuite } from './cipher-suites.ts'

/** The key and the initialization vector of one direction. */
export interface RecordKeys {
  readonly key: Buffer
  readonly iv: Buffer
}

const IV_LENGTH = 12

/** HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), for lengths up to one block of the hash. */
export function expandLabel(
  { hash, hashLength }: CipherSuite,
  secret: Uint8Array,
  label: string,
  length: number,
): Buffer {
  if (length > hashLength) throw new RangeError('more than one block of the hash')
  const info = [uint16(length), vector8(Buffer.from(`tls13 ${label}`)), vector8()]
  // HKDF-Expand counts its blocks from one; one is all we need.
  const block = createHmac(hash, secret)
    .update(Buffer.concat([...info, uint8(1)]))
    .digest()
  const expanded = Buffer.from(block.subarray(0, length))
  block.fill(0)
  return expanded
}

/** The keys that protect the records under a traffic secret (section 7.3). */
export function recordKeys(suite: CipherSuite, trafficSecret: Uint8Array): RecordKeys {
  return {
    key: expandLabel(suite, trafficSecret, 'key', suite.keyLength),
    iv: expandLabel(suite, trafficSecret, 'iv', IV_LENGTH),
  }
}

/** What a Finished says: the transcript so far, signed with the traffic secret (section 4.4.4). */
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
