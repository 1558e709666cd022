import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 90 and 91: errors of the kits for authors of plugins and signers. */
export const KIT_CODES = {
  ERR_EXEC_INFO: facts(
    90,
    'caller',
    'final',
    'A plugin was started without KUBERNETES_EXEC_INFO, or with an invalid one.',
    'Run the plugin through a Kubernetes client, or set KUBERNETES_EXEC_INFO as a client does.',
  ),
  ERR_SIGN_REQUEST: facts(
    91,
    'caller',
    'final',
    'A signer was started without a request, or received an invalid one.',
    'Run the signer through a Kubernetes client: set pathExec of the auth-provider externalSigner to it.',
  ),
} as const

abstract class KitFamilyError<C extends keyof typeof KIT_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return KIT_CODES[this.code]
  }
}

/** The input of a plugin is invalid; `field` names the first invalid field. */
export class ExecInfoError extends KitFamilyError<'ERR_EXEC_INFO'> {
  static readonly code = 'ERR_EXEC_INFO'
  /** A path such as `spec.cluster.proxy-url`; empty if the whole value is invalid. */
  readonly field: string

  constructor(field: string, what: string, init: ErrorInit = {}) {
    const subject = field === '' ? 'the variable' : `${field} in`
    super(`${subject} KUBERNETES_EXEC_INFO ${what}`, init)
    this.field = field
  }
}

/**
 * A request to a signer is invalid; `field` names the first invalid field.
 *
 * @experimental
 */
export class SignRequestError extends KitFamilyError<'ERR_SIGN_REQUEST'> {
  static readonly code = 'ERR_SIGN_REQUEST'
  /** A name such as `digest` or `configuration.pin`; empty if the whole value is invalid. */
  readonly field: string

  constructor(field: string, what: string, init: ErrorInit = {}) {
    super(
      `${field === '' ? 'the request' : `${field} in the request`} to this signer ${what}`,
      init,
    )
    this.field = field
  }
}
