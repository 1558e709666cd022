import type { Agent } from 'node:http'
import type { ConnectOptions } from '../../connect/connect-options.ts'
import type { ReadableKubeConfig } from '../../logins/kube-config-object.ts'

/** What `attach()` takes: the options of `connect()` that do not say which cluster, because the KubeConfig says that. */
export interface AttachOptions
  extends Pick<
    ConnectOptions,
    'policy' | 'observer' | 'kuberc' | 'env' | 'saveOidcTokens' | 'stdinUnavailable' | 'signal'
  > {
  /**
   * The files to look up what client-node dropped when it read them; KUBECONFIG or `~/.kube/config` unless given.
   * A file that cannot be read is as if it were not there. For a KubeConfig that was loaded from a string, pass
   * `{ text, folder }`.
   */
  readonly kubeconfig?: ConnectOptions['kubeconfig']
  /**
   * Login handlers, in place of what the KubeConfig says about its users. It still says where requests go: the
   * server must be one that a login names.
   */
  readonly vault?: ConnectOptions['vault']
}

/** Names of all options. */
export const ATTACH_OPTIONS: readonly string[] = Object.keys({
  policy: true,
  observer: true,
  kuberc: true,
  env: true,
  saveOidcTokens: true,
  stdinUnavailable: true,
  signal: true,
  kubeconfig: true,
  vault: true,
} satisfies Record<keyof AttachOptions, true>)

/** What we need of a `KubeConfig` of @kubernetes/client-node to send its requests, 1.x and 2.x alike. */
export interface KubeConfigLike extends ReadableKubeConfig {
  /** Called for every request of the generated APIs; in 2.x for watches and logs too. */
  applySecurityAuthentication(context: RequestContextLike): Promise<void>
  /** Called for WebSockets; in 1.x for watches and logs too. */
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<void>
}

/** A request of a generated API on its way: 1.x takes an agent, 2.x a dispatcher. */
export interface RequestContextLike {
  getHeaders(): Record<string, string>
  setHeaderParam(name: string, value: string): void
  setAgent?(agent: Agent): void
  setDispatcher?(dispatcher: object): void
}

/** Options of Node's client or of a WebSocket. */
export interface HttpsOptionsLike {
  agent?: unknown
  headers?: unknown
}
