import type { KeyPair } from '../credential/credential.ts'
import type { SignatureScheme } from '../credential/signing-key.ts'
import type { Secret } from '../secret/secret.ts'

/** Why there is no certificate in something. */
export type ChainProblem = 'no-certificate' | 'broken-certificate' | 'long-chain'

/** Why a certificate and a key are no pair. */
export type PairProblem = ChainProblem | 'no-key' | 'broken-key' | 'encrypted-key' | 'mismatch'

/** A certificate chain whose key is elsewhere. */
export interface ChainFacts {
  /** PEM, leaf first. */
  readonly chain: string
  /** Validity of the leaf, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** What a key for this certificate can make, best first; none for keys that TLS 1.3 has no use for here. */
  readonly schemes: readonly SignatureScheme[]
  /** The kind of its key, for messages. */
  readonly keyKind: string
}

/** Hashing and certificates for the pure layers. */
export interface Crypto {
  /** Keyed digest, comparable only inside this process. Never show it. */
  digest(text: string): string
  /**
   * Reads a PEM certificate chain and its PEM key, in any of the three key formats and under any label.
   *
   * The key comes back as PKCS#8, which is what TLS libraries take without guessing.
   */
  readPair(chain: string, key: Secret): KeyPair | PairProblem
  /** Reads one DER certificate, or a PEM chain, without its key. */
  readChain(bytes: Uint8Array): ChainFacts | ChainProblem
  /** Whether a signature was made with the key of the first certificate of a chain. */
  isSignature(
    chain: string,
    signed: { readonly scheme: SignatureScheme; readonly message: Uint8Array },
    signature: Uint8Array,
  ): boolean
  /** A number from -1 to 1. */
  jitter(): number
}
