import { makeTarget, type Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'

/** Where a request goes. */
export interface RequestTarget {
  readonly pathname: string
  /** The query with its question mark, or empty. */
  readonly search: string
  /** Set if the path must still be appended to that of the server, which is chosen with the credential. */
  readonly isRelative?: true
  /** The server that the request must go to if there are several; undefined for any of them. */
  readonly origin?: string
}

/** Returns the path to send to a server. */
export function pathOn(
  { pathname, search, isRelative }: RequestTarget,
  { prefix }: Target,
): string {
  return isRelative ? prefix + pathname + search : pathname + search
}

/**
 * Finds where a request goes: a path is appended to the server's own path, a URL must be on this server.
 *
 * The path is appended as text and never resolved, because resolving `//host` or `/\host` would lead to another host.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`; nothing was sent.
 */
export function findTarget(input: string | URL, target: Target): RequestTarget {
  if (typeof input === 'string' && PLAIN_PATH.test(input)) return splitPath(target.prefix + input)
  return parseOn(input, target)
}

/** Splits a path with an optional query. */
export function splitPath(path: string): RequestTarget {
  const query = path.indexOf('?')
  if (query === -1) return { pathname: path, search: '' }
  return { pathname: path.slice(0, query), search: path.slice(query) }
}

/**
 * Finds where a request goes if its server is chosen with the credential: a path to any server, a URL only to its own.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if it is neither a path nor a URL.
 */
export function findTargetOnAnyServer(input: string | URL): RequestTarget {
  if (typeof input === 'string' && input.startsWith('/')) {
    const { pathname, search } = findTarget(input, PLACEHOLDER)
    return { pathname, search, isRelative: true }
  }
  const { origin } = parse(input)
  const { pathname, search } = findTarget(input, { ...PLACEHOLDER, origin })
  return { pathname, search, origin }
}

/** A server without a path, to parse paths before the real server is known. */
const PLACEHOLDER: Target = makeTarget('https://kubernetes.invalid', {
  ca: undefined,
  serverName: undefined,
  insecure: false,
})

/** Matches paths that a URL parser would not change: no `//`, no dot segments, no escapes, no unusual characters. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~:-](?:[A-Za-z0-9._~:-]*))+(?:\?[A-Za-z0-9._~:=&,-]+)?$/

function parseOn(input: string | URL, { server, origin }: Target): RequestTarget {
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
    throw new ForeignOriginError('the URL contains a user name or password')
  }
  return { pathname: url.pathname, search: url.search }
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
 * Whether a path is a proxy subresource of a pod, service or node.
 *
 * The response to it is not from the API server, so its 401 says nothing about our credential.
 */
export function isProxied(pathname: string): boolean {
  return pathname.includes('/proxy') && PROXIED.test(pathname)
}

/** Anchored: an object may be called `proxy`, in a namespace called `services`. */
const PROXIED = /\/api\/v1\/(?:namespaces\/[^/]+\/(?:pods|services)|nodes)\/[^/]+\/proxy(?:\/|$)/

/** Whether the response stays open by design: a watch, or followed logs. */
export function isStreaming({ pathname, search }: RequestTarget): boolean {
  if (search !== '' && /[?&](?:watch|follow)=(?:1|t|T|true|TRUE|True)(?:&|$)/.test(search))
    return true
  return pathname.includes('/watch/') && LEGACY_WATCH.test(pathname)
}

const LEGACY_WATCH = /\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//
