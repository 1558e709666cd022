import { type ProxyServer, proxyKey } from './proxy.ts'

/** The API server that a credential is for: its URL, how to verify it, and the proxy. */
export interface Target {
  /** `https://host:port/prefix`, without a final slash. */
  readonly server: string
  readonly origin: string
  /** The path of the server URL: empty, or with a leading slash. */
  readonly prefix: string
  readonly tls: {
    /** PEM; the system's roots if undefined. */
    readonly ca: string | undefined
    readonly serverName: string | undefined
    readonly insecure: boolean
  }
  /** The proxy; undefined for a direct connection. */
  readonly proxy: ProxyServer | undefined
  /** Equal for targets that may share connections. */
  readonly key: string
}

/** Makes the target for a server URL. */
export function makeTarget(server: string, tls: Target['tls'], proxy?: ProxyServer): Target {
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const key = JSON.stringify([origin, tls, proxy && proxyKey(proxy)])
  return { server, origin, prefix, tls, proxy, key }
}

/** Returns host and port of the server; an IPv6 address without brackets. */
export function addressOf({ origin }: Target): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(origin)
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}
