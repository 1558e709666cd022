import { ForeignOriginError } from '../errors/index.ts'
import { type ProxyServer, proxyKey } from './proxy-server.ts'

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

/** Path and query of a request to the target. */
export interface Place {
  readonly pathname: string
  readonly search: string
  /** Set when it is to be appended to the path of whichever server is chosen. */
  readonly isRelative?: true
}

/** The path to send to a server. */
export function pathOn({ pathname, search, isRelative }: Place, { prefix }: Target): string {
  return isRelative ? prefix + pathname + search : pathname + search
}

/**
 * Finds where a request goes: a path is appended to the server's own path, a URL must be of this server.
 *
 * The path is appended as text and never resolved, because resolving would follow `//host` and `/\host`
 * to another machine.
 *
 * @throws {ForeignOriginError} Nothing was sent.
 */
export function findPlace(input: string | URL, target: Target): Place {
  if (typeof input === 'string' && PLAIN_PATH.test(input)) return splitPlain(input, target)
  return parsePlace(input, target)
}

/**
 * Finds where a request goes when its server is chosen with the credential: a path goes to any, a URL only
 * to its own.
 *
 * @throws {ForeignOriginError} When it is neither.
 */
export function findAnywhere(input: string | URL): { place: Place; wish?: { origin: string } } {
  if (typeof input === 'string' && input.startsWith('/')) {
    const { pathname, search } = findPlace(input, NOWHERE)
    return { place: { pathname, search, isRelative: true } }
  }
  const { origin } = parse(input)
  const { pathname, search } = findPlace(input, { ...NOWHERE, origin })
  return { place: { pathname, search }, wish: { origin } }
}

/** A server without a path of its own, to read paths against. */
const NOWHERE: Target = makeTarget('https://kubernetes.invalid', {
  ca: undefined,
  serverName: undefined,
  insecure: false,
})

/** Nothing in it that a URL parser would change: no `//`, no dot segments, no escapes, no odd characters. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~:-](?:[A-Za-z0-9._~:-]*))+(?:\?[A-Za-z0-9._~:=&,-]+)?$/

function splitPlain(input: string, { prefix }: Target): Place {
  const query = input.indexOf('?')
  if (query === -1) return { pathname: prefix + input, search: '' }
  return { pathname: prefix + input.slice(0, query), search: input.slice(query) }
}

function parsePlace(input: string | URL, { server, origin }: Target): Place {
  const isPath = typeof input === 'string' && input.startsWith('/')
  if (isPath && /^[/\\]{2}/.test(input)) {
    throw new ForeignOriginError(
      `${JSON.stringify(input.slice(0, 80))} names another host, not a path`,
    )
  }
  const url = parse(isPath ? server + input : input)
  if (url.origin !== origin) {
    throw new ForeignOriginError(`${url.origin} is not this cluster (${origin})`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ForeignOriginError('the URL carries a user name or password of its own')
  }
  return url
}

function parse(input: string | URL): URL {
  if (input instanceof URL) return input
  const url = URL.parse ? URL.parse(input) : URL.canParse(input) ? new URL(input) : null
  if (url === null) {
    throw new ForeignOriginError(
      `${JSON.stringify(input.slice(0, 80))} is neither a path nor a URL`,
      {
        hint: 'Begin the path with a slash: /api/v1/namespaces.',
      },
    )
  }
  return url
}

/**
 * Whether a path leads through the API server to something else. What answers there is not the API
 * server, so its 401 says nothing about our credential.
 */
export function isProxied(pathname: string): boolean {
  return pathname.includes('/proxy') && PROXIED.test(pathname)
}

/** Anchored: an object may be called `proxy`, in a namespace called `services`. */
const PROXIED = /\/api\/v1\/(?:namespaces\/[^/]+\/(?:pods|services)|nodes)\/[^/]+\/proxy(?:\/|$)/

/** Whether the response will stay open by design: a watch, or logs that are followed. */
export function isStreaming({ pathname, search }: Place): boolean {
  if (search !== '' && /[?&](?:watch|follow)=(?:1|t|T|true|TRUE|True)(?:&|$)/.test(search))
    return true
  return pathname.includes('/watch/') && LEGACY_WATCH.test(pathname)
}

const LEGACY_WATCH = /\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//
