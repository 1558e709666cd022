import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes from 90: what the kits for authors of plugins and signers say. */
export const KIT_CODES = {
  ERR_EXEC_INFO: facts(
    90,
    'caller',
    'final',
    'A plugin was started without KUBERNETES_EXEC_INFO, or with one it cannot use.',
    'Let a Kubernetes client start the plugin, or set KUBERNETES_EXEC_INFO as a client would.',
  ),
  ERR_SIGN_REQUEST: facts(
    91,
    'caller',
    'final',
    'A signer was started without a request, or was sent one it cannot read.',
    'Let a Kubernetes client start the signer: name it in pathExec of the auth-provider externalSigner.',
  ),
} as const

abstract class KitFamilyError<C extends keyof typeof KIT_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return KIT_CODES[this.code]
  }
}

/** What a plugin was told cannot be used; `field` names the first field that is wrong. */
export class ExecInfoError extends KitFamilyError<'ERR_EXEC_INFO'> {
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
export class SignRequestError extends KitFamilyError<'ERR_SIGN_REQUEST'> {
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
