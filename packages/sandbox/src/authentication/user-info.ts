/** A user, as in `authentication.k8s.io`. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The group of every authenticated user. */
const AUTHENTICATED = 'system:authenticated'

/** The group whose members may do everything, including impersonation. */
export const MASTERS = 'system:masters'

/** The user of a request without a credential. */
export const ANONYMOUS: UserInfo = {
  username: 'system:anonymous',
  groups: ['system:unauthenticated'],
}

/** Returns a user with the group of authenticated users added. */
export function asAuthenticated(user: UserInfo): UserInfo {
  if (user.username === ANONYMOUS.username || user.groups.includes(AUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}
