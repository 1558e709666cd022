import type { Impersonation } from '../kubeconfig/connection.ts'

export type HeaderValues = Record<string, string | string[]>

export interface HeaderDefaults {
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
  const isOwnImpersonation = own['impersonate-user'] !== undefined
  const kept = isOwnImpersonation
    ? Object.entries(defaults).filter(([name]) => !name.startsWith('impersonate-'))
    : Object.entries(defaults)
  return Object.fromEntries([...kept, ...Object.entries(own)].filter(([name]) => !OURS.has(name)))
}

/** The connection decides about these; a caller's Host would also change the name that TLS checks. */
const OURS = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

function impersonationHeaders({ user, uid, groups, extra }: Impersonation): HeaderValues {
  const headers: HeaderValues = { 'impersonate-user': user }
  if (uid !== undefined) headers['impersonate-uid'] = uid
  if (groups.length > 0) headers['impersonate-group'] = [...groups]
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${escapeKey(key)}`] = [...values]
  }
  return headers
}

/** Bytes that no header name may have are percent-encoded, and the percent sign itself. */
function escapeKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte)
    if (/[!#$&'*+.^_`|~0-9A-Za-z-]/.test(character)) return character.toLowerCase()
    return `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
}
