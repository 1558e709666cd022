import { CredentialError, type ErrorInit } from './credential-error.ts'

/** What a plugin was told cannot be used; `field` names the first field that is wrong. */
export class ExecInfoError extends CredentialError<'ERR_EXEC_INFO'> {
  readonly code = 'ERR_EXEC_INFO' as const
  /** A path such as `spec.cluster.proxy-url`; empty when it is about the whole. */
  readonly field: string

  constructor(field: string, what: string, init: ErrorInit = {}) {
    const subject = field === '' ? 'the variable' : `${field} in`
    super(`${subject} KUBERNETES_EXEC_INFO ${what}`, init)
    this.field = field
  }
}

/** What a signer was asked cannot be read; `field` names the first field that is wrong. */
export class SignRequestError extends CredentialError<'ERR_SIGN_REQUEST'> {
  readonly code = 'ERR_SIGN_REQUEST' as const
  /** A name such as `digest` or `configuration.pin`; empty when it is about the whole. */
  readonly field: string

  constructor(field: string, what: string, init: ErrorInit = {}) {
    super(
      `${field === '' ? 'the request' : `${field} in the request`} to this signer ${what}`,
      init,
    )
    this.field = field
  }
}
