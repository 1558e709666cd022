/** What a plugin answers with, and how it may misbehave. */
export interface PluginOptions {
  readonly user: string
  readonly groups?: readonly string[] | undefined
  /** `token` unless told. */
  readonly answers?: 'token' | 'certificate' | 'both' | undefined
  /** Life of each credential; without it a token has no expiry, and a certificate one hour. */
  readonly lifetimeMs?: number | undefined
  /** How long the plugin takes to answer. */
  readonly delayMs?: number | undefined
  /** Answers in this version whatever was asked; otherwise in the version that was asked for. */
  readonly apiVersion?: string | undefined
  /** Printed in place of a credential. */
  readonly stdout?: string | undefined
  /** Printed on standard error, beside the answer. */
  readonly stderr?: string | undefined
  /** Exit status, 0 unless told. With another one no credential is printed. */
  readonly exitCode?: number | undefined
}

/** How to start a plugin; fits the `exec` part of a kubeconfig user. */
export interface PluginCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What one run of a plugin prints, and how it ends. */
export interface PluginOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}
