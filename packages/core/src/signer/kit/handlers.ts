import type { SignatureScheme } from '../../credential/signing-key.ts'
import type { Prompt } from '../../plugin/kit/prompt.ts'
import type { SignerConfiguration } from './decode-sign-request.ts'

/** What both functions of a signer get. */
export interface SignerContext {
  /** The `config` map of the user's auth-provider. It may hold secrets; no error shows those with a name like `pin`. */
  readonly configuration: SignerConfiguration
  /** Tells the person what to do now, such as to touch the device. Nothing is asked. */
  readonly prompt: (text: string) => Promise<void>
  /** Asks the person at the terminal, for example for a PIN; fails at once where there is none. */
  readonly ask: Prompt
  /** Aborted by SIGINT, SIGTERM and SIGHUP, and when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What is to be signed. */
export interface SignContext extends SignerContext {
  /** How: a signature scheme of TLS 1.3. RSA is always PSS, with a salt as long as the hash. */
  readonly scheme: SignatureScheme
  /** The digest by the scheme's hash. Ed25519 hashes by itself: there it is the message. */
  readonly digest: Uint8Array
  /** What the digest is of, for keys that hash by themselves. Only our own client tells it; Ed25519 always has it. */
  readonly message: Uint8Array | undefined
}

/** A signer: where its certificate is, and how it signs. */
export interface SignerHandlers {
  /** @returns The certificate, DER or PEM. */
  readonly certificate: (
    context: SignerContext,
  ) => Uint8Array | string | Promise<Uint8Array | string>
  /** @returns The signature; that of an elliptic curve in DER (see `ecdsaToDer`). */
  readonly sign: (context: SignContext) => Uint8Array | Promise<Uint8Array>
}
