import type { SigningKey } from '../credential/signing-key.ts'

/**
 * What a login handler returns: where to connect, and as whom.
 *
 * Paths may begin with `~`. Data is PEM, or base64 of PEM. Nothing at all about authentication is
 * anonymous, and legal.
 */
export interface ConnectionFields {
  /** `https://HOST:PORT`, perhaps with a path. */
  readonly server: string
  readonly caPath?: string | undefined
  readonly caData?: string | Uint8Array | undefined
  /** Does not check the server's certificate. */
  readonly insecure?: boolean | undefined
  /** The name to check the server's certificate against, in place of the address's. */
  readonly tlsServerName?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** The word before the token, by default `Bearer`. Without a token it is the whole header. */
  readonly scheme?: string | undefined
  readonly token?: string | undefined
  readonly certificatePath?: string | undefined
  readonly certificateData?: string | Uint8Array | undefined
  readonly privateKeyPath?: string | undefined
  readonly privateKeyData?: string | Uint8Array | undefined
  /** Signs in place of a private key that is somewhere else; the certificate is still needed. */
  readonly signingKey?: GivenSigningKey | undefined
  /** The namespace to use where a request needs one. */
  readonly defaultNamespace?: string | undefined
  readonly proxyUrl?: string | undefined
  /** Whether HTTPS_PROXY and its kin count; false by default. */
  readonly trustEnv?: boolean | undefined
  /** Larger is preferred; 0 by default. */
  readonly priority?: number | undefined
  /**
   * When it ends: a `Date`, milliseconds since the epoch, or text as in the answer of a plugin. Text without a zone is
   * UTC, a date alone its first moment. The year 1 in UTC means no end, as in the answer of a plugin.
   */
  readonly expiration?: Moment | string | number | undefined
}

/** A signing key as people write it: without `choose` the server's first choice is made. */
export type GivenSigningKey = Pick<SigningKey, 'sign'> & Partial<Pick<SigningKey, 'choose'>>

/** A `Date`. */
export interface Moment {
  getTime(): number
}

type Kind = 'text' | 'data' | 'key' | 'flag' | 'number' | 'time'

/** Every field and what it takes. */
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

/** Fields that never appear in any output. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'password',
  'token',
  'privateKeyData',
  // A header can be written whole as its scheme, and a proxy's address may hold a password.
  'scheme',
  'proxyUrl',
])
