import type { OidcConfig } from '../kubeconfig/connection.ts'
import type { Secret } from '../secret/secret.ts'

/** The tokens of a login, as a kubeconfig has them. */
export interface OidcTokens {
  readonly idToken?: Secret
  readonly refreshToken?: Secret
}

/** What a refresh gave. */
export interface OidcGrant {
  readonly idToken: Secret
  /** Absent when the old one stays good. */
  readonly refreshToken?: Secret
}

/** The issuer of tokens, somewhere on the network. */
export interface OidcIssuer {
  /** @throws {CredentialError} */
  refresh(config: OidcConfig, refreshToken: Secret, signal: AbortSignal): Promise<OidcGrant>
}

/** The user entry that the tokens came from. */
export interface OidcEntry {
  /** For messages: `user "jane" in "/home/jane/.kube/config"`. */
  readonly where: string
  /** Whether new tokens are written into it. */
  readonly isSaved: boolean
  /** Whether it stands in a file; false if the kubeconfig was passed as text or object. */
  readonly hasFile: boolean
  /** The tokens it has now; undefined when it cannot be read or is no longer about this login. */
  read(): Promise<OidcTokens | undefined>
  /**
   * Writes new tokens, if the entry still has the refresh token that is expected there.
   *
   * @throws {Error} With a message for people.
   */
  save(tokens: OidcTokens, expected: OidcTokens): Promise<'saved' | 'changed'>
}
