import type { Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'
import type { Incoming } from './incoming.ts'
import { findOn, type RequestTarget } from './request-target.ts'

const STATUSES = new Set([301, 302, 303, 307, 308])
const MAX_HOPS = 5

export function isRedirect({ statusCode, headers }: Incoming): boolean {
  return STATUSES.has(statusCode) && typeof headers['location'] === 'string'
}

interface Following {
  readonly target: Target
  readonly mode: RequestInit['redirect']
  readonly method: string
  readonly hops: number
}

/**
 * Where a redirect leads, if the caller wants it followed; undefined hands it back as it is.
 *
 * @throws {ForeignOriginError} When it leads to another origin: our credential is not for that one.
 */
export function followTo(
  { headers }: Incoming,
  from: RequestTarget,
  { target, mode, method, hops }: Following,
): RequestTarget | undefined {
  if (mode === 'error') throw new TypeError('the server redirects, and redirect is "error"')
  if (mode !== 'follow' || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (hops >= MAX_HOPS) throw new TypeError(`more than ${MAX_HOPS} redirects`)
  const location = String(headers['location'])
  const base = target.origin + from.pathname + from.search
  if (!URL.canParse(location, base)) {
    throw new ForeignOriginError('the server redirects to something that is not a URL')
  }
  return findOn(new URL(location, base), target)
}
