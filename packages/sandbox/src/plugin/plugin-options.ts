/** What a plugin prints, and how it fails. */
export interface PluginOptions {
  readonly user: string
  readonly groups?: readonly string[] | undefined
  /** The credential that the plugin prints; by default `token`. */
  readonly credential?: 'token' | 'certificate' | 'both' | undefined
  /** Lifetime of each credential. By default a token does not expire, and a certificate expires after one hour. */
  readonly lifetimeMs?: number | undefined
  /** How long the plugin waits before it prints. */
  readonly delayMs?: number | undefined
  /** The API version of the output; by default the one that was requested. */
  readonly apiVersion?: string | undefined
  /** Printed instead of a credential. */
  readonly stdout?: string | undefined
  /** Printed on standard error, in addition to the output. */
  readonly stderr?: string | undefined
  /** By default 0. With any other exit status no credential is printed. */
  readonly exitCode?: number | undefined
}

/** How to start a plugin. It can be used as the `exec` field of a kubeconfig user. */
export interface PluginCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The output and exit status of one run of a plugin. */
export interface PluginOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}
