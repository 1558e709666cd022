/** What flags and options lay over the kubeconfig; named as kubectl's flags. */
export interface Overrides {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
  readonly server?: string | undefined
  readonly tlsServerName?: string | undefined
  readonly insecureSkipTlsVerify?: boolean | undefined
  readonly certificateAuthority?: string | undefined
  /** The same as PEM, in place of a file. */
  readonly certificateAuthorityData?: string | undefined
  readonly proxyUrl?: string | undefined
  readonly disableCompression?: boolean | undefined
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
  readonly as?: string | undefined
  readonly asUid?: string | undefined
  readonly asGroups?: readonly string[] | undefined
  readonly asUserExtra?: Readonly<Record<string, readonly string[]>> | undefined
}
