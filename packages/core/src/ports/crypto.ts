import type { CertificatePair } from '../protocol/credential.ts'
import type { Secret } from '../secret/secret.ts'

/** Why a certificate and a key are no pair. */
export type PairProblem =
  | 'no-certificate'
  | 'broken-certificate'
  | 'no-key'
  | 'broken-key'
  | 'encrypted-key'
  | 'mismatch'

/** Hashing and certificates for the pure layers. */
export interface Crypto {
  /** Keyed digest, comparable only inside this process. Never show it. */
  digest(text: string): string
  /**
   * Reads a PEM certificate chain and its PEM key, in any of the three key formats and under any label.
   *
   * The key comes back as PKCS#8, which is what TLS libraries take without guessing.
   */
  readPair(chain: string, key: Secret): CertificatePair | PairProblem
  /** A number from -1 to 1. */
  jitter(): number
}
