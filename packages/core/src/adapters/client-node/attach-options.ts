import type { Agent } from 'node:http'
import type { ConnectOptions } from '../../connect/connect-options.ts'
import type { ReadableKubeConfig } from '../../logins/kube-config-object.ts'

/** Options of `attach()`: those of `connect()` that do not select a cluster, because the KubeConfig does. */
export interface AttachOptions
  extends Pick<
    ConnectOptions,
    'policy' | 'observer' | 'kuberc' | 'env' | 'saveOidcTokens' | 'stdinUnavailable' | 'signal'
  > {
  /**
   * The files in which to look up the fields that client-node dropped when it read them; by default those of KUBECONFIG,
   * or `~/.kube/config`. A file that cannot be read is ignored. For a KubeConfig that
   * was loaded from a string, pass `{ text, folder }`.
   */
  readonly kubeconfig?: ConnectOptions['kubeconfig']
  /**
   * Login handlers, which replace the users of the KubeConfig. The KubeConfig still decides where requests go: the server
   * must be one that a login names.
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

/** The part of a `KubeConfig` of @kubernetes/client-node 1.x or 2.x that `attach()` uses. */
export interface KubeConfigLike extends ReadableKubeConfig {
  /** Called for every request of the generated APIs; in 2.x for watches and logs too. */
  applySecurityAuthentication(context: RequestContextLike): Promise<void>
  /** Called for WebSockets; in 1.x for watches and logs too. */
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<void>
}

/** The `RequestContext` of a generated API: 1.x has an agent, 2.x a dispatcher. */
export interface RequestContextLike {
  getHeaders(): Record<string, string>
  setHeaderParam(name: string, value: string): void
  setAgent?(agent: Agent): void
  setDispatcher?(dispatcher: object): void
}

/** Options of a request of `node:https`, or of a WebSocket. */
export interface HttpsOptionsLike {
  agent?: unknown
  headers?: unknown
}
