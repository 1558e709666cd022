import type { HeaderValues } from '../exchange/exchange.ts'
import type { Lease } from '../keeper/lease.ts'
import type { Impersonation } from '../kubeconfig/connection.ts'

interface HeaderDefaults {
  readonly userAgent: string
  readonly disableCompression: boolean
  readonly impersonate?: Impersonation | undefined
}

/** Headers that go on every request unless the caller set them. */
export function defaultHeaders({
  userAgent,
  disableCompression,
  impersonate,
}: HeaderDefaults): HeaderValues {
  return {
    'user-agent': userAgent,
    ...(!disableCompression && { 'accept-encoding': 'gzip' }),
    ...(impersonate && impersonationHeaders(impersonate)),
  }
}

/**
 * Lays a caller's headers over the defaults.
 *
 * A caller who impersonates somebody replaces the whole group of impersonation headers, as in
 * client-go: half of one identity and half of another would be neither.
 */
export function mergeHeaders(defaults: HeaderValues, own: HeaderValues): HeaderValues {
  const merged = Object.entries(layOver(defaults, own)).filter(([name]) => !OURS.has(name))
  return Object.fromEntries(merged)
}

/** The connection decides about these; a caller's Host would also change the name that TLS checks. */
const OURS = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

/** Adds whom to act as to the headers of a request, unless they say it themselves. */
function actAs(impersonate: Impersonation, headers: HeaderValues): HeaderValues {
  return layOver(impersonationHeaders(impersonate), headers)
}

/** What of a lease goes into headers; connections without one have nothing. */
type Attachable = Partial<Pick<Lease, 'authorization' | 'endpoint'>>

/**
 * The headers of one try: those of the request, whom the login acts as, and its credential.
 *
 * The two are attached together and from one lease: a credential without the impersonation of its login has
 * more rights than it should. If there is nothing to attach, they are the headers themselves.
 */
export function attachLease(
  headers: HeaderValues,
  { authorization, endpoint }: Attachable,
): HeaderValues {
  const acting =
    endpoint?.impersonate === undefined ? headers : actAs(endpoint.impersonate, headers)
  return authorization === undefined ? acting : { ...acting, authorization }
}

function layOver(defaults: HeaderValues, own: HeaderValues): HeaderValues {
  const user = defaults['impersonate-user']
  if (user === undefined) return { ...defaults, ...own }
  // Nobody's name is no name: the server would forget about the impersonation, and give more rights.
  if (!impersonatesUser(own)) return { ...defaults, ...own, 'impersonate-user': user }
  const kept = Object.entries(defaults).filter(([name]) => !name.startsWith('impersonate-'))
  return { ...Object.fromEntries(kept), ...own }
}

/** Whether a request says itself whom to act as. Of several names, the server takes the first. */
export function impersonatesUser({ 'impersonate-user': user = '' }: HeaderValues): boolean {
  const [first = ''] = [user].flat()
  return first.trim() !== ''
}

function impersonationHeaders({ user, uid, groups, extra }: Impersonation): HeaderValues {
  const headers: HeaderValues = { 'impersonate-user': utf8Bytes(user) }
  if (uid !== undefined) headers['impersonate-uid'] = utf8Bytes(uid)
  if (groups.length > 0) headers['impersonate-group'] = groups.map(utf8Bytes)
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${escapeKey(key)}`] = values.map(utf8Bytes)
  }
  return headers
}

/** Node writes one byte per character and refuses others; the server reads UTF-8, which client-go writes. */
function utf8Bytes(value: string): string {
  return Buffer.from(value).toString('latin1')
}

/** Bytes that no header name may have are percent-encoded, and the percent sign itself. */
function escapeKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte)
    if (/[!#$&'*+.^_`|~0-9A-Za-z-]/.test(character)) return character.toLowerCase()
    return `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
}
