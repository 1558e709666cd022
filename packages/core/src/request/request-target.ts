import { makeTarget, type Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'

/** Where a request goes. */
export interface RequestTarget {
  readonly pathname: string
  /** The query with its question mark, or empty. */
  readonly search: string
  /** Set when the path is to be appended to that of the server, which is chosen with the credential. */
  readonly isRelative?: true
  /** The server it must go to, where there are several; any of them when undefined. */
  readonly origin?: string
}

/** The path to send to a server. */
export function pathOn(
  { pathname, search, isRelative }: RequestTarget,
  { prefix }: Target,
): string {
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
export function findOn(input: string | URL, target: Target): RequestTarget {
  if (typeof input === 'string' && PLAIN_PATH.test(input)) return splitPath(target.prefix + input)
  return parseOn(input, target)
}

/** Path and query of a text that is only that. */
export function splitPath(path: string): RequestTarget {
  const query = path.indexOf('?')
  if (query === -1) return { pathname: path, search: '' }
  return { pathname: path.slice(0, query), search: path.slice(query) }
}

/**
 * Finds where a request goes when its server is chosen with the credential: a path goes to any, a URL only
 * to its own.
 *
 * @throws {ForeignOriginError} When it is neither.
 */
export function findAnywhere(input: string | URL): RequestTarget {
  if (typeof input === 'string' && input.startsWith('/')) {
    const { pathname, search } = findOn(input, NOWHERE)
    return { pathname, search, isRelative: true }
  }
  const { origin } = parse(input)
  const { pathname, search } = findOn(input, { ...NOWHERE, origin })
  return { pathname, search, origin }
}

/** A server without a path of its own, to read paths against. */
const NOWHERE: Target = makeTarget('https://kubernetes.invalid', {
  ca: undefined,
  serverName: undefined,
  insecure: false,
})

/** Nothing in it that a URL parser would change: no `//`, no dot segments, no escapes, no odd characters. */
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
    throw new ForeignOriginError('the URL carries a user name or password of its own')
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
 * Whether a path leads through the API server to something else. What answers there is not the API
 * server, so its 401 says nothing about our credential.
 */
export function isProxied(pathname: string): boolean {
  return pathname.includes('/proxy') && PROXIED.test(pathname)
}

/** Anchored: an object may be called `proxy`, in a namespace called `services`. */
const PROXIED = /\/api\/v1\/(?:namespaces\/[^/]+\/(?:pods|services)|nodes)\/[^/]+\/proxy(?:\/|$)/

/** Whether the response will stay open by design: a watch, or logs that are followed. */
export function isStreaming({ pathname, search }: RequestTarget): boolean {
  if (search !== '' && /[?&](?:watch|follow)=(?:1|t|T|true|TRUE|True)(?:&|$)/.test(search))
    return true
  return pathname.includes('/watch/') && LEGACY_WATCH.test(pathname)
}

const LEGACY_WATCH = /\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//
