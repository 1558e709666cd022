import type { OidcConfig } from '../kubeconfig/connection.ts'
import type { Secret } from '../secret/secret.ts'

/** The tokens of a login, as stored in a kubeconfig. */
export interface OidcTokens {
  readonly idToken?: Secret
  readonly refreshToken?: Secret
}

/** The result of a refresh: at least one token. */
export interface OidcGrant {
  /** Absent if the issuer returned only a refresh token, which is then the only valid one. */
  readonly idToken?: Secret
  /** Absent if the old one stays valid. */
  readonly refreshToken?: Secret
}

/** The client of an OpenID Connect issuer. */
export interface OidcIssuer {
  /**
   * Exchanges a refresh token for new tokens.
   *
   * @throws {CredentialError} `ERR_OIDC_REFUSED`, `ERR_OIDC_UNREACHABLE` or `ERR_OIDC_CONFIG`
   */
  refresh(config: OidcConfig, refreshToken: Secret, signal: AbortSignal): Promise<OidcGrant>
}

/** The kubeconfig user entry that the tokens were read from. */
export interface OidcEntry {
  /** For messages, such as `user "jane" in "/home/jane/.kube/config"`. */
  readonly where: string
  /** Whether new tokens are written to it. */
  readonly isSaved: boolean
  /** Whether it stands in a file; false if the kubeconfig was passed as text or object. */
  readonly hasFile: boolean
  /** The tokens it has now; undefined when it cannot be read or is no longer about this login. */
  read(): Promise<OidcTokens | undefined>
  /**
   * Writes new tokens if the entry still has the expected refresh token.
   *
   * @throws {Error} With a message for the user.
   */
  save(tokens: OidcTokens, expected: OidcTokens): Promise<'saved' | 'changed'>
}
