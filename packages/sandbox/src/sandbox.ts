import type { IssuedToken, TokenOptions } from './authentication/tokens.ts'
import type { CertificateOptions, IssuedCertificate } from './certificates/client-certificates.ts'
import type { KubeconfigOptions } from './kubeconfig/kubeconfig-options.ts'
import type { PluginCommand, PluginOptions } from './plugin/plugin-options.ts'
import type { ConnectionCounts } from './server/connections.ts'
import type { Responder } from './server/handle.ts'
import type { RestartOptions } from './server/listener.ts'
import type { RequestRecord } from './server/request-log.ts'

/** A running Kubernetes API server, small enough for a test. Options that do not exist are a `TypeError`. */
export interface Sandbox extends AsyncDisposable {
  /** The address, such as `https://127.0.0.1:40123`. */
  readonly url: string
  /** The authority of the server's certificate, as PEM; another one after `rotateServerAuthority`. */
  readonly caPem: string
  /** The authority of client certificates, as PEM; the same one unless options say otherwise. */
  readonly clientCaPem: string
  /** A folder of its own, readable only by its owner, removed by `close`. */
  readonly folder: string
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly RequestRecord[]
  readonly connections: ConnectionCounts
  /** How often plugins of this sandbox have run since the start or the last reset. */
  readonly pluginRuns: number
  /** What they found in KUBERNETES_EXEC_INFO, oldest first; the last 1,000. */
  readonly pluginExecInfos: readonly unknown[]

  /** Makes a bearer token that the server knows at once. */
  issueToken(options: TokenOptions): IssuedToken
  /** Makes a client certificate. */
  issueCertificate(options: CertificateOptions): Promise<IssuedCertificate>
  /** Takes back one token, or all tokens of a user. */
  revoke(tokenOrUser: string): void
  /** Takes back all certificates issued to a user so far. */
  revokeCertificates(user: string): void
  /** Puts a hook before every answer, or removes it. */
  respondWith(responder: Responder | undefined): void
  /** Makes an executable credential plugin that gets its credentials from here. */
  plugin(options: PluginOptions): Promise<PluginCommand>
  resetPluginRuns(): void
  /** Writes a kubeconfig (mode 0600) that leads here, and returns its path. */
  writeKubeconfig(options?: KubeconfigOptions): string
  /** Lets a pod log a line, which whoever follows its log sees; throws if there is no such pod. */
  log(namespace: string, pod: string, line: string): void
  /** Ends all connections at once and goes on listening. */
  dropConnections(): void
  /**
   * Ends all connections, stays away for `downMs`, and listens at the same address again.
   *
   * Objects and their history, tokens, certificates and hooks survive; TLS sessions do not. Resolves
   * when it listens, or when the sandbox is closed meanwhile.
   */
  restart(options?: RestartOptions): Promise<void>
  /**
   * Gives the server a certificate of a new authority, which is returned as PEM.
   *
   * New connections see it at once, and those that are open go on. Client certificates stay good.
   */
  rotateServerAuthority(): Promise<string>
  /** Ends all connections, stops listening and removes the folder. */
  close(): Promise<void>
}
