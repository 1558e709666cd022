import { applyClusterOverrides, applyUserOverrides } from './apply-overrides.ts'
import { authProviderError } from './auth-provider.ts'
import { chooseNamespace } from './choose-namespace.ts'
import { clusterTarget } from './cluster-target.ts'
import type { Connection } from './connection.ts'
import { describeOddities } from './describe-oddities.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import type { Kubeconfig, UserEntry } from './kubeconfig.ts'
import { overrideProblems } from './override-problems.ts'
import type { Overrides } from './overrides.ts'
import { throwProblems } from './problem.ts'
import {
  type Paths,
  resolveClusterPaths,
  resolveOverridePaths,
  resolveUserPaths,
} from './resolve-paths.ts'
import { type Selection, selectEntries } from './select-entries.ts'
import { userIdentity } from './user-identity.ts'
import { hasHeaderMethod } from './user-methods.ts'
import { clusterProblems } from './validate-cluster.ts'
import { userProblems } from './validate-user.ts'
import { withoutUndefined } from './without-undefined.ts'

/** What the entries of a kubeconfig are read against. */
export interface Surroundings {
  readonly paths: Paths
  /** The folder that flags, and entries without a file, are relative to. */
  readonly cwd: string
  /** The namespace of the pod we run in, where there is one. */
  readonly podNamespace?: string | undefined
  /** Where configuration was looked for, for the error that says there is none. */
  readonly looked?: string | undefined
}

/**
 * Makes a connection from a kubeconfig and flags: selects, resolves paths, applies flags, checks, converts.
 *
 * Only the selected cluster and user are checked; others may be broken. The result shares nothing with the
 * kubeconfig or with other connections made from it.
 *
 * @throws {KubeconfigInvalidError} With all problems of the selected entries.
 * @throws {KubeconfigEmptyError} When nothing says which cluster.
 */
export function buildConnection(
  config: Kubeconfig,
  overrides: Overrides,
  around: Surroundings,
): Connection {
  return connectTo(selectEntries(config, overrides, around.looked), overrides, around)
}

/** Makes a connection from entries that are already selected, as in a pod. */
export function connectTo(
  selection: Selection,
  overrides: Overrides,
  { paths, cwd, podNamespace }: Surroundings,
): Connection {
  const flags = resolveOverridePaths(overrides, cwd, paths)
  const entry = resolveUserPaths(selection.user, cwd, paths)
  const user = applyUserOverrides(entry, flags)
  const cluster = applyClusterOverrides(resolveClusterPaths(selection.cluster, cwd, paths), flags)
  const { context } = selection
  const { namespace, problems } = chooseNamespace({
    flag: overrides.namespace,
    context,
    pod: podNamespace,
  })
  throwProblems([
    ...overrideProblems(overrides, entry),
    ...clusterProblems(cluster),
    ...userProblems(user),
    ...problems,
  ])
  const target = clusterTarget(cluster, user)
  const scheme = target.server.startsWith('https:') ? 'https' : 'http'
  if (scheme === 'https') refuseAuthProvider(user)
  return withoutUndefined<Connection>({
    context: context?.name,
    namespace,
    cluster: target,
    user: userIdentity(user, scheme),
    warnings: [
      ...selection.warnings,
      ...describeOddities({ entry, user, cluster, server: target.server, overrides }),
    ],
    origin: selection.origin,
  })
}

/** Providers that are sources here. */
const SUPPORTED: readonly string[] = ['oidc', EXTERNAL_SIGNER]

function refuseAuthProvider(user: UserEntry): void {
  // A provider yields to an Authorization header, so that a static method makes it unused.
  if (user.authProvider === undefined || hasHeaderMethod(user)) return
  if (SUPPORTED.includes(user.authProvider.name)) return
  throw authProviderError(user, user.authProvider)
}
