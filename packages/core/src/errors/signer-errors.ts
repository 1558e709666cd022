import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'
import type { PluginRunFacts } from './plugin-errors.ts'

/** Codes 52 to 59: signers, which hold the private key, and the handshakes they sign. */
export const SIGNER_CODES = {
  ERR_SIGNER_CONFIG: facts(
    52,
    'caller',
    'final',
    'The auth-provider externalSigner of the user entry cannot work as it is written.',
    'Correct the fields that the message names.',
  ),
  ERR_SIGNER_RESPONSE_INVALID: facts(
    53,
    'plugin',
    'final',
    'A signer answered with something that is no answer to what it was asked.',
    'Update the signer, or report it to its author; the message says what was expected.',
  ),
  ERR_SIGNER_CERTIFICATE: facts(
    54,
    'plugin',
    'final',
    'The certificate of a signer cannot be used.',
    'Put a valid certificate for the key beside it, in the device or where the signer looks for it.',
  ),
  ERR_SIGNER_FAILED: facts(
    55,
    'plugin',
    'retryable',
    'A signer could not do what it was asked.',
    'Read what the signer said; check that its device is plugged in and unlocked.',
  ),
  ERR_SIGNER_SOCKET: facts(
    56,
    'caller',
    'final',
    'The unix socket of a signer may not be used as it is.',
    'Let the socket and its folder belong to you, closed to everybody else, and start the signer.',
  ),
  ERR_SIGNATURE_INVALID: facts(
    57,
    'plugin',
    'final',
    'A signature does not fit the certificate it was made for.',
    'Check that the certificate belongs to the key that signs.',
  ),
  ERR_SIGNED_TOO_LATE: facts(
    58,
    'server',
    'retryable',
    'The server closed the connection while it waited for a signature.',
    'Try again and confirm sooner: an API server waits for about half a minute.',
  ),
  ERR_HANDSHAKE_NOT_SIGNED: facts(
    59,
    'server',
    'final',
    'The TLS handshake went another way than a signing key can follow, so nothing was signed.',
    'Let the server speak TLS 1.3 and accept a signature that the key can make.',
  ),
} as const

abstract class SignerFamilyError<C extends keyof typeof SIGNER_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return SIGNER_CODES[this.code]
  }
}

/** A user entry with an auth-provider `externalSigner` that cannot work as it is written. */
export class SignerConfigError extends SignerFamilyError<'ERR_SIGNER_CONFIG'> {
  readonly code = 'ERR_SIGNER_CONFIG' as const
}

/** A signer and what is wrong with it. */
abstract class OfSigner<
  C extends
    | 'ERR_SIGNER_RESPONSE_INVALID'
    | 'ERR_SIGNER_CERTIFICATE'
    | 'ERR_SIGNER_FAILED'
    | 'ERR_SIGNER_SOCKET',
> extends SignerFamilyError<C> {
  /** The program or socket, as configured. */
  readonly signer: string

  constructor(signer: string, what: string, init: ErrorInit = {}) {
    super(`the signer ${signer} ${what}`, init)
    this.signer = signer
  }
}

/** A signer answered with something that is no answer to what it was asked. */
export class SignerResponseInvalidError extends OfSigner<'ERR_SIGNER_RESPONSE_INVALID'> {
  readonly code = 'ERR_SIGNER_RESPONSE_INVALID' as const
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
export class SignatureInvalidError extends SignerFamilyError<'ERR_SIGNATURE_INVALID'> {
  readonly code = 'ERR_SIGNATURE_INVALID' as const
}

/** The server closed the connection while it waited for a signature. */
export class SignedTooLateError extends SignerFamilyError<'ERR_SIGNED_TOO_LATE'> {
  readonly code = 'ERR_SIGNED_TOO_LATE' as const
}

/** The handshake went another way than a signing key can follow. Nothing was signed, or nothing was sent. */
export class HandshakeNotSignedError extends SignerFamilyError<'ERR_HANDSHAKE_NOT_SIGNED'> {
  readonly code = 'ERR_HANDSHAKE_NOT_SIGNED' as const
}
