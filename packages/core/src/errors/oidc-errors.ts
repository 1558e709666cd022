import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 80 and 81: the OpenID Connect issuer. */
export const OIDC_CODES = {
  ERR_OIDC_REFUSED: facts(
    80,
    'server',
    'final',
    'The OpenID Connect issuer responded, but did not return a usable token.',
    'Log in again to get a new refresh token into the kubeconfig.',
  ),
  ERR_OIDC_UNREACHABLE: facts(
    81,
    'network',
    'retryable',
    'The OpenID Connect issuer is unreachable or temporarily unavailable.',
    'Check idp-issuer-url in the kubeconfig, and your network or VPN.',
  ),
} as const

abstract class OidcFamilyError<C extends keyof typeof OIDC_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return OIDC_CODES[this.code]
  }
}

/** The issuer responded but did not return a usable token. */
export class OidcRefusedError extends OidcFamilyError<'ERR_OIDC_REFUSED'> {
  static readonly code = 'ERR_OIDC_REFUSED'
  readonly issuer: string
  /** The OAuth error code of the issuer, such as `invalid_grant`; absent if it sent none. */
  declare readonly reason?: string

  constructor(issuer: string, what: string, init: ErrorInit & { reason?: string } = {}) {
    super(`the issuer ${issuer} ${what}`, init)
    this.issuer = issuer
    if (init.reason !== undefined) this.reason = init.reason
  }
}

/** The issuer is unreachable or temporarily unavailable. */
export class OidcUnreachableError extends OidcFamilyError<'ERR_OIDC_UNREACHABLE'> {
  static readonly code = 'ERR_OIDC_UNREACHABLE'
  readonly issuer: string

  constructor(issuer: string, reason: string, init: ErrorInit = {}) {
    super(`request to the issuer ${issuer} failed: ${reason}`, init)
    this.issuer = issuer
  }
}
