import type { SigningKey } from '../credential/signing-key.ts'
import type { Secret } from '../secret/secret.ts'
import type { ExecConfig } from './exec-config.ts'
import type { SignerConfig } from './external-signer-config.ts'
import { createEmptyEntry } from './field-reader.ts'
import { CLUSTER_FIELDS, type EntryOf, type Present } from './fields.ts'
import type { Inline } from './inline-kubeconfig.ts'

/**
 * Inline PEM, or the absolute path of a PEM file.
 *
 * `field` is its name in messages if it does not come from a kubeconfig.
 */
export type Material<D = string> =
  | { readonly from: 'data'; readonly data: D; readonly field?: string }
  | { readonly from: 'file'; readonly path: string; readonly field?: string }

/** Returns the path or the inline data; validation ensures that at most one is set. */
export function material<D>(
  path: string | undefined,
  data: D | undefined,
): Material<D> | undefined {
  if (path !== undefined) return { from: 'file', path }
  return data === undefined ? undefined : { from: 'data', data }
}

/** The selected and validated cluster, with options applied. */
export interface ClusterTarget
  extends Omit<
    Present<EntryOf<typeof CLUSTER_FIELDS>>,
    'server' | 'certificateAuthority' | 'certificateAuthorityData'
  > {
  /** Name of the entry; undefined in a pod and if only option server is given. */
  readonly name?: string
  /** `https://host:port/path` without query, fragment and trailing slash. */
  readonly server: string
  readonly certificateAuthority?: Material
  /** The reserved extension `client.authentication.k8s.io/exec`, as plain data. */
  readonly execExtension?: unknown
}

/** A target without any setting: every field is undefined or false. */
export const NO_TARGET = { ...createEmptyEntry(CLUSTER_FIELDS), certificateAuthority: undefined }

/** The user that requests impersonate. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The auth-provider `oidc`: a login at an OpenID Connect issuer. */
export interface OidcConfig {
  /** URL of the issuer: https, or http on the loopback interface. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: Secret
  /** The CA of the issuer; the system roots by default. */
  readonly certificateAuthority?: Material
  readonly idToken?: Secret
  readonly refreshToken?: Secret
  /** Where it stands, so that its tokens can be read again and written back. */
  readonly entry: {
    readonly file: string | undefined
    readonly user: string
    readonly inline?: Inline
  }
}

/** The authentication of the user entry, of options or of the pod, validated. */
export interface UserIdentity {
  readonly name?: string
  readonly token?: Secret
  /** Absolute path; the file is reloaded when it changes and after a 401. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: Secret }
  readonly certificate?: { readonly chain: Material; readonly key: Material<Secret> }
  readonly exec?: ExecConfig
  readonly oidc?: OidcConfig
  readonly externalSigner?: SignerConfig
  /** A certificate with a signing key from a login handler; a kubeconfig cannot contain one. */
  readonly signing?: {
    readonly chain: Material
    readonly signingKey: SigningKey
    /** Equal for the same key. */
    readonly id: string
  }
  readonly impersonate?: Impersonation
}

/** Everything that `connect()` needs, whatever its origin. */
export interface Connection {
  /** Name of the context, if one was selected. */
  readonly context?: string
  readonly namespace: string
  readonly cluster: ClusterTarget
  readonly user: UserIdentity
  /** Warnings for the user, as full sentences. */
  readonly warnings: readonly string[]
  /** The origin, for messages: a list of files, `flags` or `in-cluster`. */
  readonly origin: string
}

/** The server of one login. Different logins may use different servers. */
export interface Endpoint {
  readonly cluster: ClusterTarget
  /** PEM; the system roots if undefined. */
  readonly ca: string | undefined
  readonly namespace: string
  /** Whether proxy settings in the environment are used. */
  readonly trustEnv: boolean
  /** Larger values are preferred. */
  readonly priority: number
  /** The user that the login impersonates. */
  readonly impersonate?: Impersonation
}
