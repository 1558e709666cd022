import type { SigningKey } from '../credential/signing-key.ts'
import type { Secret } from '../secret/secret.ts'
import type { ExecConfig } from './exec-config.ts'
import type { SignerConfig } from './external-signer-config.ts'
import { emptyEntry } from './field-reader.ts'
import { CLUSTER_FIELDS, type EntryOf, type Present } from './fields.ts'
import type { Inline } from './inline-kubeconfig.ts'

/**
 * PEM from the kubeconfig itself, or the absolute path of a file that holds it.
 *
 * `field` is what messages call it where it does not come from a kubeconfig.
 */
export type Material<D = string> =
  | { readonly from: 'data'; readonly data: D; readonly field?: string }
  | { readonly from: 'file'; readonly path: string; readonly field?: string }

/** Chooses between a path and inline data, of which validation left at most one. */
export function material<D>(
  path: string | undefined,
  data: D | undefined,
): Material<D> | undefined {
  if (path !== undefined) return { from: 'file', path }
  return data === undefined ? undefined : { from: 'data', data }
}

/** The cluster after selection, overrides and validation. */
export interface ClusterTarget
  extends Omit<
    Present<EntryOf<typeof CLUSTER_FIELDS>>,
    'server' | 'certificateAuthority' | 'certificateAuthorityData'
  > {
  /** Name of the entry; undefined for `--server` alone and in a pod. */
  readonly name?: string
  /** `https://host:port/path` without query, fragment and final slash. */
  readonly server: string
  readonly certificateAuthority?: Material
  /** The reserved extension `client.authentication.k8s.io/exec`, as plain data; undefined when absent. */
  readonly execExtension?: unknown
}

/** A target of which nothing is known: every field is undefined, or a switch that is off. */
export const NO_TARGET = { ...emptyEntry(CLUSTER_FIELDS), certificateAuthority: undefined }

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** A login at an OpenID Connect issuer: the auth-provider `oidc`. */
export interface OidcConfig {
  /** Address of the issuer: https, or http on the loopback interface. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: Secret
  /** Whom to trust as the issuer; the system's authorities when undefined. */
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

/** What the user entry (or flags, or the pod) says about authentication, already free of contradictions. */
export interface UserIdentity {
  readonly name?: string
  readonly token?: Secret
  /** Absolute path; read again when it changes and on a 401. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: Secret }
  readonly certificate?: { readonly chain: Material; readonly key: Material<Secret> }
  readonly exec?: ExecConfig
  readonly oidc?: OidcConfig
  readonly externalSigner?: SignerConfig
  /** A certificate whose key a login handler holds elsewhere; no kubeconfig can say so. */
  readonly signing?: {
    readonly chain: Material
    readonly signingKey: SigningKey
    /** Equal for what is the same key. */
    readonly id: string
  }
  readonly impersonate?: Impersonation
}

/** Everything `connect()` needs to know, from whichever place it came. */
export interface Connection {
  /** Name of the context, where one was chosen. */
  readonly context?: string
  readonly namespace: string
  readonly cluster: ClusterTarget
  readonly user: UserIdentity
  /** What is odd but not wrong, as full sentences for people. */
  readonly warnings: readonly string[]
  /** Where it came from, for people: a list of files, `flags` or `in-cluster`. */
  readonly origin: string
}

/** A server as one login names it: different logins may lead to different servers. */
export interface Endpoint {
  readonly cluster: ClusterTarget
  /** PEM; the system's roots when undefined. */
  readonly ca: string | undefined
  readonly namespace: string
  /** Whether proxies of the environment count. */
  readonly trustEnv: boolean
  /** Larger is preferred. */
  readonly priority: number
  /** Whom the login acts as; it has the rights of that one alone. */
  readonly impersonate?: Impersonation
}
