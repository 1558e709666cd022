import { headerValues, type Incoming } from '../server/exchange.ts'
import { StatusError } from '../server/status.ts'
import { asAuthenticated, MASTERS, type UserInfo } from './user-info.ts'

const EXTRA_PREFIX = 'impersonate-extra-'

/**
 * Returns the user of a request after its impersonation headers are applied.
 *
 * @throws {StatusError} 403, as kube-apiserver, if the user is not in `system:masters`.
 */
export function impersonate(request: Incoming, user: UserInfo): UserInfo {
  const headers = headerValues(request)
  const [username] = headers.get('impersonate-user') ?? []
  const [uid] = headers.get('impersonate-uid') ?? []
  const groups = headers.get('impersonate-group') ?? []
  const extra = readExtra(headers)
  if (username === undefined || username === '') {
    if (uid === undefined && groups.length === 0 && Object.keys(extra).length === 0) return user
    throw new StatusError('InternalError', 'requested impersonation without impersonating a user')
  }
  if (!user.groups.includes(MASTERS)) {
    throw new StatusError(
      'Forbidden',
      `users "${username}" is forbidden: User "${user.username}" cannot impersonate resource "users" in API group "" at the cluster scope`,
      { name: username, kind: 'users' },
    )
  }
  return asAuthenticated({
    username,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  })
}

function readExtra(
  headers: ReadonlyMap<string, readonly string[]>,
): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {}
  for (const [name, values] of headers) {
    if (name.startsWith(EXTRA_PREFIX)) extra[decodeKey(name.slice(EXTRA_PREFIX.length))] = values
  }
  return extra
}

/** Header names cannot carry every character, so clients percent-encode the key. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
