/**
 * How the user of a written kubeconfig authenticates; several fields may be given at once.
 *
 * What `issueToken()` and `issueCertificate()` return fits in.
 */
export interface KubeconfigUser {
  readonly token?: string | undefined
  readonly tokenFile?: string | undefined
  /** PEM, written inline. */
  readonly certificate?: string | undefined
  /** PEM, written inline. */
  readonly key?: string | undefined
  readonly certificateFile?: string | undefined
  readonly keyFile?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly exec?: KubeconfigExec | undefined
  /** Written as it is: an external signer, or OpenID Connect. */
  readonly 'auth-provider'?: KubeconfigAuthProvider | undefined
  readonly impersonate?: string | undefined
  readonly impersonateUid?: string | undefined
  readonly impersonateGroups?: readonly string[] | undefined
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>> | undefined
  // The same by the names that a kubeconfig has, with the values that it has: data is base64.
  readonly 'client-certificate-data'?: string | undefined
  readonly 'client-key-data'?: string | undefined
  readonly 'client-certificate'?: string | undefined
  readonly 'client-key'?: string | undefined
  readonly as?: string | undefined
  readonly 'as-uid'?: string | undefined
  readonly 'as-groups'?: readonly string[] | undefined
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | undefined
  /** When the token ends: not written. */
  readonly expirationTimestamp?: string | undefined
  /** When the certificate ends: not written. */
  readonly notAfter?: Date | undefined
}

/** The exec plugin of a kubeconfig user; what `sandbox.plugin()` returns fits in. */
export interface KubeconfigExec {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** By name, or as a kubeconfig has them. */
  readonly env?:
    | Readonly<Record<string, string>>
    | readonly { readonly name: string; readonly value: string }[]
    | undefined
  /** By default `client.authentication.k8s.io/v1`. */
  readonly apiVersion?: string | undefined
  /** By default `IfAvailable`. */
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always' | undefined
  readonly provideClusterInfo?: boolean | undefined
  readonly installHint?: string | undefined
}

/** The auth provider of a kubeconfig user. */
export interface KubeconfigAuthProvider {
  /** `externalSigner` and `oidc` are those that kubecred has. */
  readonly name: string
  /** What the provider wants to know, such as `pathExec`. */
  readonly config?: Readonly<Record<string, string>> | undefined
}

/** What to write into a kubeconfig. */
export interface KubeconfigOptions {
  /** By default a new file in the sandbox's own folder. */
  readonly path?: string | undefined
  readonly user?: KubeconfigUser | undefined
  /** By default `default`. */
  readonly namespace?: string | undefined
  /** By default the sandbox's own address. */
  readonly server?: string | undefined
  readonly tlsServerName?: string | undefined
  readonly proxyUrl?: string | undefined
  /** Leaves the authority out and tells clients not to check the server's certificate. */
  readonly insecureSkipTlsVerify?: boolean | undefined
  /** Given to plugins as `spec.cluster.config` when they ask for cluster information. */
  readonly extension?: unknown
}
