/** How the user of a written kubeconfig authenticates; several fields may be given at once. */
export interface KubeconfigUser {
  readonly token?: string
  readonly tokenFile?: string
  /** PEM, written inline. */
  readonly certificate?: string
  /** PEM, written inline. */
  readonly key?: string
  readonly certificateFile?: string
  readonly keyFile?: string
  readonly username?: string
  readonly password?: string
  readonly exec?: KubeconfigExec
  readonly impersonate?: string
  readonly impersonateUid?: string
  readonly impersonateGroups?: readonly string[]
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>>
}

/** The exec plugin of a kubeconfig user; what `sandbox.plugin()` returns fits in. */
export interface KubeconfigExec {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** `client.authentication.k8s.io/v1` unless told. */
  readonly apiVersion?: string
  /** `IfAvailable` unless told. */
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
  readonly provideClusterInfo?: boolean
  readonly installHint?: string
}

/** What to write into a kubeconfig. */
export interface KubeconfigOptions {
  /** A new file in the sandbox's own folder unless told. */
  readonly path?: string
  readonly user?: KubeconfigUser
  /** `default` unless told. */
  readonly namespace?: string
  /** The sandbox's own address unless told. */
  readonly server?: string
  readonly tlsServerName?: string
  readonly proxyUrl?: string
  /** Leaves the authority out and tells clients not to check the server's certificate. */
  readonly insecureSkipTlsVerify?: boolean
  /** Given to plugins as `spec.cluster.config` when they ask for cluster information. */
  readonly extension?: unknown
}
