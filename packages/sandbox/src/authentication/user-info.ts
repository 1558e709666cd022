/** Who somebody is, in the words of `authentication.k8s.io`. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The group of everybody who showed a good credential. */
const AUTHENTICATED = 'system:authenticated'

/** The group whose members may do everything, impersonation included. */
export const MASTERS = 'system:masters'

/** Who a request without any credential is. */
export const ANONYMOUS: UserInfo = {
  username: 'system:anonymous',
  groups: ['system:unauthenticated'],
}

/** Adds the group that every authenticated user has. */
export function asAuthenticated(user: UserInfo): UserInfo {
  if (user.username === ANONYMOUS.username || user.groups.includes(AUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}
