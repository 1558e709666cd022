import type { Agent } from 'node:http'
import type { ReadableKubeConfig } from '../../connect/kube-config/readable-kube-config.ts'

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
