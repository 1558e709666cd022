/**
 * The user entry of a kubeconfig; several fields may be set.
 *
 * The results of `issueToken()` and `issueCertificate()` can be used as they are.
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
  /** Written unchanged: an external signer, or OpenID Connect. */
  readonly 'auth-provider'?: KubeconfigAuthProvider | undefined
  readonly impersonate?: string | undefined
  readonly impersonateUid?: string | undefined
  readonly impersonateGroups?: readonly string[] | undefined
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>> | undefined
  // The same fields under their kubeconfig names, with kubeconfig values: data is base64.
  readonly 'client-certificate-data'?: string | undefined
  readonly 'client-key-data'?: string | undefined
  readonly 'client-certificate'?: string | undefined
  readonly 'client-key'?: string | undefined
  readonly as?: string | undefined
  readonly 'as-uid'?: string | undefined
  readonly 'as-groups'?: readonly string[] | undefined
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | undefined
  /** The expiry of the token; not written. */
  readonly expirationTimestamp?: string | undefined
  /** The expiry of the certificate; not written. */
  readonly notAfter?: Date | undefined
}

/** The exec plugin of a kubeconfig user. The result of `sandbox.plugin()` can be used as it is. */
export interface KubeconfigExec {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** An object, or a list of names and values as in a kubeconfig. */
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
  /** kubecred supports `externalSigner` and `oidc`. */
  readonly name: string
  /** The settings of the provider, such as `pathExec`. */
  readonly config?: Readonly<Record<string, string>> | undefined
}

/** The contents of a kubeconfig, and where to write it. */
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
  /** Writes `insecure-skip-tls-verify` instead of the CA. */
  readonly insecureSkipTlsVerify?: boolean | undefined
  /** Passed to plugins as `spec.cluster.config` if `provideClusterInfo` is set. */
  readonly extension?: unknown
}
