import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'
import type { PluginRunFacts } from './plugin-errors.ts'
import { quoteAdvice, stderrExcerpt } from './stderr-excerpt.ts'

/** Codes 52 to 59: external signers, which hold the private key, and the TLS handshakes they sign. */
export const SIGNER_CODES = {
  ERR_SIGNER_CONFIG: facts(
    52,
    'caller',
    'final',
    'The auth-provider externalSigner of the user entry is invalid.',
    'Correct the fields named in the message.',
  ),
  ERR_SIGNER_RESPONSE_INVALID: facts(
    53,
    'plugin',
    'final',
    'A signer sent an invalid response.',
    'Update the signer, or report the problem to its author.',
  ),
  ERR_SIGNER_CERTIFICATE: facts(
    54,
    'plugin',
    'final',
    'The certificate of a signer is invalid.',
    'Store a valid certificate for the key on the device, or where the signer looks for it.',
  ),
  ERR_SIGNER_FAILED: facts(
    55,
    'plugin',
    'retryable',
    'A signer failed to return a certificate or signature.',
    'Read the reason in the message, and check that the device is plugged in and unlocked.',
  ),
  ERR_SIGNER_SOCKET: facts(
    56,
    'caller',
    'final',
    'The Unix socket of a signer does not exist or is not safe to use.',
    'Start the signer, and make its socket and directory accessible only to you.',
  ),
  ERR_SIGNATURE_INVALID: facts(
    57,
    'plugin',
    'final',
    'A signature does not match the certificate.',
    'Check that the certificate belongs to the key of the signer.',
  ),
  ERR_SIGNED_TOO_LATE: facts(
    58,
    'server',
    'retryable',
    'The server closed the connection while it was waiting for a signature.',
    'Try again and confirm sooner; an API server waits for about 30 seconds.',
  ),
  ERR_HANDSHAKE_NOT_SIGNED: facts(
    59,
    'server',
    'final',
    'The TLS handshake cannot be signed with a signing key, so nothing was signed.',
    'Enable TLS 1.3 on the server, with a signature algorithm that the key supports.',
  ),
} as const

abstract class SignerFamilyError<C extends keyof typeof SIGNER_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return SIGNER_CODES[this.code]
  }
}

/**
 * The auth-provider `externalSigner` of a user entry is invalid.
 *
 * @experimental
 */
export class SignerConfigError extends SignerFamilyError<'ERR_SIGNER_CONFIG'> {
  static readonly code = 'ERR_SIGNER_CONFIG'
}

/** What the errors about one signer have in common. */
abstract class SignerError<
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

/**
 * A signer sent an invalid response.
 *
 * @experimental
 */
export class SignerResponseInvalidError extends SignerError<'ERR_SIGNER_RESPONSE_INVALID'> {
  static readonly code = 'ERR_SIGNER_RESPONSE_INVALID'
}

/**
 * The certificate of a signer is invalid.
 *
 * @experimental
 */
export class SignerCertificateError extends SignerError<'ERR_SIGNER_CERTIFICATE'> {
  static readonly code = 'ERR_SIGNER_CERTIFICATE'
}

/** What is known about a failed request to a signer. It never contains the standard output. */
export interface SignerFailureFacts extends PluginRunFacts {
  /** Undefined if the process is still running, was terminated by a signal, or there is none. */
  readonly exitStatus?: number | undefined
}

/**
 * A signer failed to return a certificate or signature.
 *
 * @experimental
 */
export class SignerFailedError extends SignerError<'ERR_SIGNER_FAILED'> {
  static readonly code = 'ERR_SIGNER_FAILED'
  /** Absent if the process is still running, was terminated by a signal, or there is none. */
  declare readonly exitStatus?: number
  declare readonly tookMs?: number
  /** The last lines of standard error, scrubbed; absent if there were none. */
  declare readonly stderrTail?: string
  readonly #summary: string

  constructor(signer: string, what: string, facts: SignerFailureFacts = {}) {
    // The reason may already be the text of standard error.
    const excerpt = stderrExcerpt(facts.stderrTail)
    const added = excerpt === undefined || what.includes(excerpt) ? '' : `: ${excerpt}`
    super(signer, `${what}${added}`, {
      ...facts,
      hint: facts.hint ?? quoteAdvice(facts.stderrTail),
    })
    this.#summary = this.message.slice(0, this.message.length - added.length)
    if (facts.exitStatus !== undefined) this.exitStatus = facts.exitStatus
    if (facts.tookMs !== undefined) this.tookMs = facts.tookMs
    if (facts.stderrTail !== undefined) this.stderrTail = facts.stderrTail
  }

  override get summary(): string {
    return this.#summary
  }
}

/**
 * The Unix socket of a signer does not exist or is not safe to use.
 *
 * @experimental
 */
export class SignerSocketError extends SignerError<'ERR_SIGNER_SOCKET'> {
  static readonly code = 'ERR_SIGNER_SOCKET'
}

/**
 * A signature does not match the certificate.
 *
 * @experimental
 */
export class SignatureInvalidError extends SignerFamilyError<'ERR_SIGNATURE_INVALID'> {
  static readonly code = 'ERR_SIGNATURE_INVALID'
}

/**
 * The server closed the connection while it was waiting for a signature.
 *
 * @experimental
 */
export class SignedTooLateError extends SignerFamilyError<'ERR_SIGNED_TOO_LATE'> {
  static readonly code = 'ERR_SIGNED_TOO_LATE'
}

/**
 * The TLS handshake cannot be signed with a signing key. Nothing was signed, or the signature was not sent.
 *
 * @experimental
 */
export class HandshakeNotSignedError extends SignerFamilyError<'ERR_HANDSHAKE_NOT_SIGNED'> {
  static readonly code = 'ERR_HANDSHAKE_NOT_SIGNED'
}
