import type { UserEntry } from './kubeconfig.ts'
import type { Problem } from './problem.ts'
import { describeEntry } from './quote-name.ts'
import { hasCertificate, hasKey } from './user-methods.ts'
import { execProblems } from './validate-exec.ts'

/** Lists what makes the selected user unusable, flags included. */
export function userProblems(user: UserEntry): readonly Problem[] {
  const entry = describeEntry('user', user)
  return [
    ...certificateProblems(user),
    ...methodProblems(user),
    ...execProblems(user),
    ...impersonationProblems(user),
  ].map(({ what, remedy }) => ({ what: `${entry} ${what}`, remedy }))
}

function certificateProblems(user: UserEntry): Problem[] {
  // As in client-go, a key without a certificate is not looked at.
  if (!hasCertificate(user)) return []
  const problems: Problem[] = []
  if (user.clientCertificate !== undefined && user.clientCertificateData !== undefined) {
    problems.push(both('client-certificate', 'client-certificate-data'))
  }
  if (user.clientKey !== undefined && user.clientKeyData !== undefined) {
    problems.push(both('client-key', 'client-key-data'))
  }
  if (!hasKey(user)) {
    problems.push({
      what: 'has a client certificate without its key',
      remedy: 'Add client-key or client-key-data, or remove the certificate.',
    })
  }
  return problems
}

function methodProblems(user: UserEntry): Problem[] {
  const problems: Problem[] = []
  const hasBasic = user.username !== undefined || user.password !== undefined
  if (user.token !== undefined && hasBasic) {
    problems.push({
      what: 'has both a token and a user name or password (basic)',
      remedy: 'Keep one of token and username with password.',
    })
  }
  if (user.exec !== undefined && user.authProvider !== undefined) {
    problems.push(both('exec', 'auth-provider'))
  }
  return problems
}

function impersonationProblems(user: UserEntry): Problem[] {
  const hasMore = user.asUid !== undefined || user.asGroups.length > 0 || user.asUserExtra.size > 0
  if (user.as !== undefined || !hasMore) return []
  return [
    {
      what: 'asks to impersonate a uid, groups or extra values without a user',
      remedy: 'Add "as" (the flag --as) with the user to impersonate, or remove the others.',
    },
  ]
}

function both(one: string, other: string): Problem {
  return { what: `has both ${one} and ${other}`, remedy: `Remove one of ${one} and ${other}.` }
}
