import type { SIGNER_KINDS } from '../../protocol/signer-wire.ts'
import type { SignatureScheme } from '../../protocol/signing-key.ts'

/** The words of a request, and so of its answer. */
export type SignerKinds = (typeof SIGNER_KINDS)[keyof typeof SIGNER_KINDS]

/** The `config` map of the user's auth-provider, as it stands in the kubeconfig. */
export type SignerConfiguration = Readonly<Record<string, string>>

interface Asked {
  readonly kinds: SignerKinds
  readonly configuration: SignerConfiguration
}

/** A client wants the certificate. */
export interface AskedCertificate extends Asked {
  readonly is: 'certificate'
}

/** A client wants a signature. */
export interface AskedSignature extends Asked {
  readonly is: 'sign'
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array | undefined
}

/** What a client can ask of a signer. */
export type AskedOfSigner = AskedCertificate | AskedSignature
