import type { SigningKey } from '../credential/signing-key.ts'

/**
 * What a login handler returns: where to connect, and with which credential.
 *
 * Paths may begin with `~`. Data is PEM, or base64 of PEM. Without any credential the login is anonymous.
 */
export interface ConnectionFields {
  /** `https://HOST:PORT`, optionally with a path. */
  readonly server: string
  readonly caPath?: string | undefined
  readonly caData?: string | Uint8Array | undefined
  /** Turns off verification of the server's certificate. */
  readonly insecure?: boolean | undefined
  /** The name to verify the server's certificate against, in place of the host in `server`. */
  readonly tlsServerName?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The scheme before the token in `Authorization`, by default `Bearer`. Without a token it is the whole header. */
  readonly scheme?: string | undefined
  readonly token?: string | undefined
  readonly certificatePath?: string | undefined
  readonly certificateData?: string | Uint8Array | undefined
  readonly privateKeyPath?: string | undefined
  readonly privateKeyData?: string | Uint8Array | undefined
  /**
   * Signs TLS handshakes in place of a private key that is not in this process. The certificate is still required.
   *
   * @experimental
   */
  readonly signingKey?: SigningKeyInput | undefined
  /** The namespace of the connection, by default `default`. */
  readonly defaultNamespace?: string | undefined
  readonly proxyUrl?: string | undefined
  /** Whether HTTPS_PROXY, HTTP_PROXY and NO_PROXY are used; false by default. */
  readonly trustEnv?: boolean | undefined
  /** Larger is preferred; 0 by default. */
  readonly priority?: number | undefined
  /**
   * When the credential expires: a `Date`, milliseconds since the epoch, or an RFC 3339 string. A string without a time
   * zone is UTC, a date without a time means 00:00. The year 1 (Go's zero time) means no expiry, as in the output of a
   * plugin.
   */
  readonly expiration?: DateLike | string | number | undefined
}

/**
 * A signing key as a login handler returns it. Without `choose` the first scheme that the server offers is used.
 *
 * @experimental
 */
export type SigningKeyInput = Pick<SigningKey, 'sign'> & Partial<Pick<SigningKey, 'choose'>>

/** A `Date`, possibly of another realm. */
export interface DateLike {
  getTime(): number
}

type Kind = 'text' | 'data' | 'key' | 'flag' | 'number' | 'time'

/** The kind of value that each field takes. */
export const FIELD_KINDS: Readonly<Record<keyof ConnectionFields, Kind>> = {
  server: 'text',
  caPath: 'text',
  caData: 'data',
  insecure: 'flag',
  tlsServerName: 'text',
  username: 'text',
  password: 'text',
  scheme: 'text',
  token: 'text',
  certificatePath: 'text',
  certificateData: 'data',
  privateKeyPath: 'text',
  privateKeyData: 'data',
  signingKey: 'key',
  defaultNamespace: 'text',
  proxyUrl: 'text',
  trustEnv: 'flag',
  priority: 'number',
  expiration: 'time',
}

/** Fields whose values never appear in any output. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'password',
  'token',
  'privateKeyData',
  // `scheme` can be the whole header, and a proxy URL can hold a password.
  'scheme',
  'proxyUrl',
])
