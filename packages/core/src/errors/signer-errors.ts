import { CredentialError, type ErrorInit } from './credential-error.ts'
import type { PluginRunFacts } from './plugin-errors.ts'

/** A user entry with an auth-provider `externalSigner` that cannot work as it is written. */
export class SignerConfigError extends CredentialError<'ERR_SIGNER_CONFIG'> {
  readonly code = 'ERR_SIGNER_CONFIG' as const
}

/** A signer and what is wrong with it. */
abstract class OfSigner<
  C extends
    | 'ERR_SIGNER_ANSWER'
    | 'ERR_SIGNER_CERTIFICATE'
    | 'ERR_SIGNER_FAILED'
    | 'ERR_SIGNER_SOCKET',
> extends CredentialError<C> {
  /** The program or socket, as configured. */
  readonly signer: string

  constructor(signer: string, what: string, init: ErrorInit = {}) {
    super(`the signer ${signer} ${what}`, init)
    this.signer = signer
  }
}

/** A signer answered with something that is no answer to what it was asked. */
export class SignerAnswerError extends OfSigner<'ERR_SIGNER_ANSWER'> {
  readonly code = 'ERR_SIGNER_ANSWER' as const
}

/** The certificate of a signer cannot be used. */
export class SignerCertificateError extends OfSigner<'ERR_SIGNER_CERTIFICATE'> {
  readonly code = 'ERR_SIGNER_CERTIFICATE' as const
}

/** What is known about a request that a signer failed. Standard output is never part of it. */
export interface SignerFailureFacts extends PluginRunFacts {
  /** Undefined when the process goes on, or a signal ended it, or there is none. */
  readonly exitStatus?: number | undefined
}

/** A signer could not do what it was asked. */
export class SignerFailedError extends OfSigner<'ERR_SIGNER_FAILED'> {
  readonly code = 'ERR_SIGNER_FAILED' as const
  readonly exitStatus: number | undefined
  readonly tookMs: number | undefined
  readonly stderrTail: string | undefined

  constructor(signer: string, what: string, facts: SignerFailureFacts = {}) {
    super(signer, what, facts)
    this.exitStatus = facts.exitStatus
    this.tookMs = facts.tookMs
    this.stderrTail = facts.stderrTail
  }
}

/** The unix socket of a signer may not be used as it is. */
export class SignerSocketError extends OfSigner<'ERR_SIGNER_SOCKET'> {
  readonly code = 'ERR_SIGNER_SOCKET' as const
}

/** A signature does not fit the certificate it was made for. */
export class SignatureWrongError extends CredentialError<'ERR_SIGNATURE_WRONG'> {
  readonly code = 'ERR_SIGNATURE_WRONG' as const
}

/** The server closed the connection while it waited for a signature. */
export class SignedTooLateError extends CredentialError<'ERR_SIGNED_TOO_LATE'> {
  readonly code = 'ERR_SIGNED_TOO_LATE' as const
}

/** The handshake went another way than a signing key can follow. Nothing was signed, or nothing was sent. */
export class HandshakeNotSignedError extends CredentialError<'ERR_HANDSHAKE_NOT_SIGNED'> {
  readonly code = 'ERR_HANDSHAKE_NOT_SIGNED' as const
}
