import type { SignatureScheme } from '../../credential/signing-key.ts'
import type { Prompt } from '../../plugin/kit/prompt.ts'
import type { SignerConfiguration } from './decode-sign-request.ts'

/**
 * The argument of both handlers of a signer.
 *
 * @experimental
 */
export interface SignerContext {
  /**
   * The `config` map of the user's auth-provider.
   *
   * It may contain secrets; errors hide values with names such as `pin`.
   */
  readonly configuration: SignerConfiguration
  /** Shows the user what to do, such as to touch the device. It asks nothing. */
  readonly notify: (text: string) => Promise<void>
  /** Asks a question at the terminal, for example for a PIN. Rejects at once if there is no terminal. */
  readonly prompt: Prompt
  /** Aborted by SIGINT, SIGTERM and SIGHUP, and when the client no longer waits for the answer. */
  readonly signal: AbortSignal
}

/**
 * The argument of `sign`: what to sign, and how.
 *
 * @experimental
 */
export interface SignContext extends SignerContext {
  /** The TLS 1.3 signature scheme. RSA is always PSS, with a salt as long as the hash. */
  readonly scheme: SignatureScheme
  /**
   * The digest of the message, with the hash of the scheme.
   *
   * For Ed25519, which hashes the message itself, the message.
   */
  readonly digest: Uint8Array
  /**
   * The message of the digest, for keys that hash it themselves.
   *
   * Only kubecred sends it; for Ed25519 it is always set.
   */
  readonly message: Uint8Array | undefined
}

/**
 * The two functions that make a signer.
 *
 * @experimental
 */
export interface SignerHandlers {
  /** @returns The certificate, in DER or PEM. */
  readonly certificate: (
    context: SignerContext,
  ) => Uint8Array | string | Promise<Uint8Array | string>
  /** @returns The signature. ECDSA signatures must be in DER (see `ecdsaToDer`). */
  readonly sign: (context: SignContext) => Uint8Array | Promise<Uint8Array>
}
