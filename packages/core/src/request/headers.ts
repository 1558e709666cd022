import type { HeaderValues } from '../exchange/exchange.ts'
import type { Lease } from '../keeper/lease.ts'
import type { Impersonation } from '../kubeconfig/connection.ts'

interface HeaderDefaults {
  readonly userAgent: string
  readonly disableCompression: boolean
  readonly impersonate?: Impersonation | undefined
}

/** Returns the headers of requests whose caller does not set them. */
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
 * Merges a caller's headers into the defaults; the caller's take precedence.
 *
 * A caller that sets `Impersonate-User` replaces all impersonation headers, as in client-go: a mix of two identities
 * would be neither.
 */
export function mergeHeaders(defaults: HeaderValues, own: HeaderValues): HeaderValues {
  const merged = overlay(defaults, own)
  for (const name of CONNECTION_HEADERS) {
    if (merged[name] !== undefined) delete merged[name]
  }
  return merged
}

/** Whether `Accept-Encoding` is our default and not the caller's. */
export function asksCompressed(defaults: HeaderValues, own: HeaderValues | undefined): boolean {
  return defaults['accept-encoding'] !== undefined && own?.['accept-encoding'] === undefined
}

/** Set by the connection; a caller's Host would also change the name that TLS checks. */
const CONNECTION_HEADERS = ['host', 'connection', 'content-length', 'transfer-encoding']

/** Adds impersonation headers, unless the request has its own. */
function impersonateAs(impersonate: Impersonation, headers: HeaderValues): HeaderValues {
  return overlay(impersonationHeaders(impersonate), headers)
}

/** The part of a lease that goes into headers; a connection without a credential has none. */
type HeaderCredential = Partial<Pick<Lease, 'authorization' | 'endpoint'>>

/**
 * Returns the headers of one try: those of the request, the login's impersonation and its credential.
 *
 * Impersonation and credential always come from the same lease: a credential without the impersonation of its login has
 * more rights than it should. Without anything to attach, the result is the same object.
 */
export function attachLease(
  headers: HeaderValues,
  { authorization, endpoint }: HeaderCredential,
): HeaderValues {
  const impersonated =
    endpoint?.impersonate === undefined ? headers : impersonateAs(endpoint.impersonate, headers)
  return authorization === undefined ? impersonated : { ...impersonated, authorization }
}

/** Returns a new object. */
function overlay(defaults: HeaderValues, own: HeaderValues): HeaderValues {
  const user = defaults['impersonate-user']
  if (user === undefined) return { ...defaults, ...own }
  // The server ignores an empty user name, so an empty header would disable the impersonation and give more rights.
  if (!impersonatesUser(own)) return { ...defaults, ...own, 'impersonate-user': user }
  const kept = Object.entries(defaults).filter(([name]) => !name.startsWith('impersonate-'))
  return { ...Object.fromEntries(kept), ...own }
}

/** Whether a request impersonates a user itself. Of several values, the server uses the first. */
export function impersonatesUser({ 'impersonate-user': user = '' }: HeaderValues): boolean {
  const [first = ''] = [user].flat()
  return first.trim() !== ''
}

/** Returns the headers with which a request acts as another user. */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): HeaderValues {
  const headers: HeaderValues = { 'impersonate-user': utf8Bytes(user) }
  if (uid !== undefined) headers['impersonate-uid'] = utf8Bytes(uid)
  if (groups.length > 0) headers['impersonate-group'] = groups.map(utf8Bytes)
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${escapeKey(key)}`] = values.map(utf8Bytes)
  }
  return headers
}

/** Encodes a value as UTF-8, as client-go does: Node writes one byte per character and rejects other characters. */
function utf8Bytes(value: string): string {
  return Buffer.from(value).toString('latin1')
}

/** Percent-encodes the bytes that are not allowed in a header name, and the percent sign itself. */
function escapeKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte)
    if (/[!#$&'*+.^_`|~0-9A-Za-z-]/.test(character)) return character.toLowerCase()
    return `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
}
