import { type ProxyServer, proxyKey } from './proxy.ts'

/** The server that a credential belongs to, and how to know that it is the right one. */
export interface Target {
  /** `https://host:port/prefix`, without a final slash. */
  readonly server: string
  readonly origin: string
  /** The server's own path, empty or beginning with a slash. */
  readonly prefix: string
  readonly tls: {
    /** PEM; the system's roots when undefined. */
    readonly ca: string | undefined
    readonly serverName: string | undefined
    readonly insecure: boolean
  }
  /** The way to the server; undefined is directly. */
  readonly proxy: ProxyServer | undefined
  /** Equal for targets that may share connections. */
  readonly key: string
}

export function makeTarget(server: string, tls: Target['tls'], proxy?: ProxyServer): Target {
  const { origin, pathname } = new URL(server)
  const prefix = pathname === '/' ? '' : pathname
  const key = JSON.stringify([origin, tls, proxy && proxyKey(proxy)])
  return { server, origin, prefix, tls, proxy, key }
}

/** Name and port of the server; an IPv6 address without brackets. */
export function addressOf({ origin }: Target): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(origin)
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}
