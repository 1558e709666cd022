import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 80 to 89: the issuer of OpenID Connect tokens. */
export const OIDC_CODES = {
  ERR_OIDC_REFUSED: facts(
    80,
    'server',
    'final',
    'The OpenID Connect issuer answered, but gave no token that can be used.',
    'Log in again, so that the kubeconfig gets a new refresh token.',
  ),
  ERR_OIDC_UNREACHABLE: facts(
    81,
    'network',
    'retryable',
    'The OpenID Connect issuer could not be reached, or could not answer for now.',
    'Check idp-issuer-url in the kubeconfig, and your network or VPN.',
  ),
} as const

abstract class OidcFamilyError<C extends keyof typeof OIDC_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return OIDC_CODES[this.code]
  }
}

/** The issuer answered and gave no token. */
export class OidcRefusedError extends OidcFamilyError<'ERR_OIDC_REFUSED'> {
  readonly code = 'ERR_OIDC_REFUSED' as const
  readonly issuer: string
  /** The issuer's own word, such as `invalid_grant`; undefined when it said none. */
  readonly reason?: string

  constructor(issuer: string, what: string, init: ErrorInit & { reason?: string } = {}) {
    super(`the issuer ${issuer} ${what}`, init)
    this.issuer = issuer
    if (init.reason !== undefined) this.reason = init.reason
  }
}

/** The issuer could not be reached, or could not answer for now. */
export class OidcUnreachableError extends OidcFamilyError<'ERR_OIDC_UNREACHABLE'> {
  readonly code = 'ERR_OIDC_UNREACHABLE' as const
  readonly issuer: string

  constructor(issuer: string, reason: string, init: ErrorInit = {}) {
    super(`no answer from the issuer ${issuer}: ${reason}`, init)
    this.issuer = issuer
  }
}
