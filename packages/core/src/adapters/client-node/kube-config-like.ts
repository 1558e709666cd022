import type { Agent } from 'node:http'

/**
 * What we need of a `KubeConfig` of @kubernetes/client-node, 1.4 and 2.x alike.
 *
 * Written down here, because a type of one of its versions would be the wrong one for the users of another.
 */
export interface KubeConfigLike {
  getCurrentContext(): string
  getContextObject(name: string): ContextLike | null
  getCurrentCluster(): ClusterLike | null
  getCurrentUser(): UserLike | null
  /** Called for every request of the generated APIs; in 2.x for watches and logs too. */
  applySecurityAuthentication(context: RequestContextLike): Promise<void>
  /** Called for WebSockets; in 1.x for watches and logs too. */
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<void>
}

/** A context as client-node keeps it. */
export interface ContextLike {
  readonly name: string
  readonly cluster: string
  readonly user?: string
  readonly namespace?: string
}

/** A cluster entry as client-node keeps it. */
export interface ClusterLike {
  readonly name: string
  readonly server: string
  readonly caData?: string
  readonly caFile?: string
  readonly skipTLSVerify?: boolean
  readonly tlsServerName?: string
  readonly proxyUrl?: string
}

/** A user entry as client-node keeps it. */
export interface UserLike {
  readonly name: string
  readonly certData?: string
  readonly certFile?: string
  readonly keyData?: string
  readonly keyFile?: string
  readonly token?: string
  readonly username?: string
  readonly password?: string
  readonly impersonateUser?: string
  readonly exec?: unknown
  readonly authProvider?: unknown
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
