import type { CipherGCMTypes } from 'node:crypto'

/** What a TLS 1.3 cipher suite decides. */
export interface CipherSuite {
  readonly aead: CipherGCMTypes | 'chacha20-poly1305'
  readonly keyLength: number
  readonly hash: 'sha256' | 'sha384'
  readonly hashLength: number
}

/** The suites that Node offers by default, by their numbers (RFC 8446, appendix B.4). */
const SUITES = new Map<number, CipherSuite>([
  [0x1301, { aead: 'aes-128-gcm', keyLength: 16, hash: 'sha256', hashLength: 32 }],
  [0x1302, { aead: 'aes-256-gcm', keyLength: 32, hash: 'sha384', hashLength: 48 }],
  [0x1303, { aead: 'chacha20-poly1305', keyLength: 32, hash: 'sha256', hashLength: 32 }],
])

/** The suite with this number, or undefined if we do not know it. */
export function cipherSuite(number: number): CipherSuite | undefined {
  return SUITES.get(number)
}
