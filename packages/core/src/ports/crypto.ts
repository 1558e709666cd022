import type { KeyPair } from '../credential/credential.ts'
import type { SignatureScheme } from '../credential/signing-key.ts'
import type { Secret } from '../secret/secret.ts'

/** Why a certificate chain is invalid. */
export type ChainProblem = 'no-certificate' | 'broken-certificate' | 'long-chain'

/** Why a certificate and a key are not a valid pair. */
export type PairProblem = ChainProblem | 'no-key' | 'broken-key' | 'encrypted-key' | 'mismatch'

/** A certificate chain whose private key is outside this process. */
export interface ChainFacts {
  /** PEM, leaf first. */
  readonly chain: string
  /** Validity of the leaf, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** The schemes that the key of this certificate supports, preferred first; empty for unsupported types of keys. */
  readonly schemes: readonly SignatureScheme[]
  /** The type of its key, for messages. */
  readonly keyKind: string
}

/** Hashing, certificates and randomness for the pure layers. */
export interface Crypto {
  /** Returns a keyed digest that is comparable only inside this process. Never show it. */
  digest(text: string): string
  /**
   * Parses a PEM certificate chain and its PEM key, in any of the three key formats and with any label.
   *
   * The key is returned as PKCS#8, which every TLS library accepts.
   */
  readPair(chain: string, key: Secret): KeyPair | PairProblem
  /** Parses one DER certificate, or a PEM chain, without its key. */
  readChain(bytes: Uint8Array): ChainFacts | ChainProblem
  /** Returns whether a signature was made with the key of the first certificate of a chain. */
  isSignature(
    chain: string,
    signed: { readonly scheme: SignatureScheme; readonly message: Uint8Array },
    signature: Uint8Array,
  ): boolean
  /** Returns a random number from -1 to 1. */
  jitter(): number
}
