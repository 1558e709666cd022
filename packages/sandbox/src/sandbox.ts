import type { IssuedToken, TokenOptions } from './authentication/tokens.ts'
import type { CertificateOptions, IssuedCertificate } from './certificates/client-certificates.ts'
import type { KubeconfigOptions } from './kubeconfig/kubeconfig-options.ts'
import type { PluginCommand, PluginOptions } from './plugin/plugin-options.ts'
import type { ConnectionCounts } from './server/connections.ts'
import type { Responder } from './server/handle.ts'
import type { RestartOptions } from './server/listener.ts'
import type { RequestRecord } from './server/request-log.ts'

/** A running Kubernetes API server for tests. Every method throws a `TypeError` for an unknown option. */
export interface Sandbox extends AsyncDisposable {
  /** The address, such as `https://127.0.0.1:40123`. */
  readonly url: string
  /** The CA of the server's certificate, as PEM; `rotateServerAuthority` changes it. */
  readonly caPem: string
  /** The CA of client certificates, as PEM; by default the same as `caPem`. */
  readonly clientCaPem: string
  /** The sandbox's folder, readable only by its owner and removed by `close`. */
  readonly folder: string
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly RequestRecord[]
  readonly connections: ConnectionCounts
  /** How often plugins have run since the start or the last reset. */
  readonly pluginRuns: number
  /** The values of KUBERNETES_EXEC_INFO in the last 1,000 runs, oldest first. */
  readonly pluginExecInfos: readonly unknown[]

  /** Issues a bearer token. */
  issueToken(options: TokenOptions): IssuedToken
  /** Issues a client certificate. */
  issueCertificate(options: CertificateOptions): Promise<IssuedCertificate>
  /** Revokes one token, or all tokens issued to a user so far. */
  revoke(tokenOrUser: string): void
  /** Revokes all certificates issued to a user so far. */
  revokeCertificates(user: string): void
  /** Sets a hook that may answer requests instead of the server; undefined removes it. */
  respondWith(responder: Responder | undefined): void
  /** Creates an executable credential plugin that gets its credentials from the sandbox. */
  plugin(options: PluginOptions): Promise<PluginCommand>
  resetPluginRuns(): void
  /** Writes a kubeconfig (mode 0600) for the sandbox, and returns its path. */
  writeKubeconfig(options?: KubeconfigOptions): string
  /**
   * Appends a line to the log of a pod.
   *
   * @throws {Error} There is no such pod.
   */
  log(namespace: string, pod: string, line: string): void
  /** Closes all connections, and continues to listen. */
  dropConnections(): void
  /**
   * Closes all connections, stops listening for `downMs`, then listens at the same address again.
   *
   * Objects and their history, tokens, certificates and hooks survive; TLS sessions do not. Resolves when the server
   * listens again, or when the sandbox is closed meanwhile.
   */
  restart(options?: RestartOptions): Promise<void>
  /**
   * Gives the server a certificate from a new CA, and returns the CA as PEM.
   *
   * New connections see it immediately; open ones stay open. Client certificates stay valid.
   */
  rotateServerAuthority(): Promise<string>
  /** Closes all connections, stops listening and removes the folder. */
  close(): Promise<void>
}
