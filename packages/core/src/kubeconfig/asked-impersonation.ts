import { applyUserOverrides } from './apply-overrides.ts'
import type { Impersonation } from './connection.ts'
import { NO_USER } from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'
import { throwProblems } from './problem.ts'
import { impersonationOf } from './user-identity.ts'
import { userProblems } from './validate-user.ts'

/**
 * Whom options ask to act as, where no kubeconfig says who the user is.
 *
 * @throws {CredentialError} They ask for a uid, groups or extra values without a user.
 */
export function askedImpersonation(overrides: Overrides): Impersonation | undefined {
  const { as, asUid, asGroups, asUserExtra } = overrides
  const user = applyUserOverrides(NO_USER, { as, asUid, asGroups, asUserExtra })
  throwProblems(userProblems(user))
  return impersonationOf(user)
}
