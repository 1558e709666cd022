import { CredentialError, type ErrorInit } from './credential-error.ts'

/** A user entry with an auth-provider `oidc` that cannot work as it is written. */
export class OidcConfigError extends CredentialError<'ERR_OIDC_CONFIG'> {
  readonly code = 'ERR_OIDC_CONFIG' as const
}

/** The issuer answered and gave no token. */
export class OidcRefusedError extends CredentialError<'ERR_OIDC_REFUSED'> {
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
export class OidcUnreachableError extends CredentialError<'ERR_OIDC_UNREACHABLE'> {
  readonly code = 'ERR_OIDC_UNREACHABLE' as const
  readonly issuer: string

  constructor(issuer: string, reason: string, init: ErrorInit = {}) {
    super(`no answer from the issuer ${issuer}: ${reason}`, init)
    this.issuer = issuer
  }
}
