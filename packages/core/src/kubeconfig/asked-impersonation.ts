import { applyUserOverrides } from './apply-overrides.ts'
import type { Impersonation } from './connection.ts'
import { NO_USER } from './kubeconfig.ts'
import { overrideProblems } from './override-problems.ts'
import type { Overrides } from './overrides.ts'
import { throwProblems } from './problem.ts'
import { impersonationOf } from './user-identity.ts'

/**
 * Whom options ask to act as, where no kubeconfig says who the user is.
 *
 * @throws {CredentialError} They ask for a uid, groups or extra values without a user.
 */
export function askedImpersonation(overrides: Overrides): Impersonation | undefined {
  const { as, asUid, asGroups, asUserExtra } = overrides
  const asked = { as, asUid, asGroups, asUserExtra }
  throwProblems(overrideProblems(asked, NO_USER))
  return impersonationOf(applyUserOverrides(NO_USER, asked))
}
