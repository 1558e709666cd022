/**
 * What we read of a `KubeConfig` of @kubernetes/client-node, whatever its version.
 *
 * Written down here, because a type of one of its versions would be the wrong one for the users of another.
 */
export interface ReadableKubeConfig {
  getCurrentContext(): string
  getContextObject(name: string): ContextLike | null
  getCurrentCluster(): ClusterLike | null
  getCurrentUser(): UserLike | null
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
