import { LoginToolError } from '../errors/index.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import { quoteName } from '../kubeconfig/quote-name.ts'
import { resolveClusterPaths, resolveUserPaths } from '../kubeconfig/resolve-paths.ts'
import type { Selection } from '../kubeconfig/select-entries.ts'
import type { Environment } from '../node/host-environment.ts'
import { readFiles } from './kube-config/find-in-files.ts'
import { NODE_PATHS } from './kube-config/node-paths.ts'
import { isSameCluster, isSameUser } from './kube-config/same-entry.ts'

interface Places {
  readonly command: string
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/**
 * Finds the entries in their files, which kubectl does not tell: relative paths start there, new tokens of an issuer
 * are found there, and an old kubectl leaves out what it does not know.
 *
 * @throws {LoginToolError} When a path is relative and the file is not found, as behind a wrapper of kubectl.
 */
export async function withOrigins(selection: Selection, places: Places): Promise<Selection> {
  const { kubeconfig, env, cwd, command } = places
  const files = await readFiles({ kubeconfig, env }, cwd)
  const cluster = findCluster(selection.cluster, files, cwd) ?? selection.cluster
  const user = findUser(selection.user, files, cwd) ?? selection.user
  if (cluster.file === undefined) refuseRelative('cluster', cluster, pathsOfCluster, places)
  if (user.file === undefined) refuseRelative('user', user, pathsOfUser, places)
  return { ...selection, cluster, user, origin: command }
}

/** kubectl takes an entry from the first file that has one of its name. */
function findCluster(
  entry: ClusterEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): ClusterEntry | undefined {
  const found = files.find(({ clusters }) => clusters.has(entry.name))?.clusters.get(entry.name)
  const isIt = found !== undefined && isSameCluster(found, { ...entry, file: found.file }, cwd)
  return isIt ? found : undefined
}

function findUser(
  entry: UserEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): UserEntry | undefined {
  const found = files.find(({ users }) => users.has(entry.name))?.users.get(entry.name)
  const isIt =
    found !== undefined &&
    found.tokenFile === entry.tokenFile &&
    isSameUser(found, { ...entry, file: found.file }, cwd)
  return isIt ? found : undefined
}

function refuseRelative<E extends { readonly name: string }>(
  kind: string,
  entry: E,
  pathsOf: (entry: E, cwd: string) => readonly (string | undefined)[],
  { command }: Places,
): void {
  // Only a relative path is another one seen from elsewhere.
  const [here, elsewhere] = [pathsOf(entry, '/1'), pathsOf(entry, '/2')]
  const isRelative = here.some((path, at) => path !== elsewhere[at])
  if (!isRelative) return
  throw new LoginToolError(
    command,
    `names a file of ${kind} ${quoteName(entry.name)} by a relative path, and does not say where that starts`,
    { hint: 'Write the path in full, or pass the file of the entry as kubeconfig.' },
  )
}

function pathsOfCluster(entry: ClusterEntry, cwd: string): readonly (string | undefined)[] {
  return [resolveClusterPaths(entry, cwd, NODE_PATHS).certificateAuthority]
}

function pathsOfUser(entry: UserEntry, cwd: string): readonly (string | undefined)[] {
  const { clientCertificate, clientKey, tokenFile, exec, authProvider } = resolveUserPaths(
    entry,
    cwd,
    NODE_PATHS,
  )
  const places = ['idp-certificate-authority', 'pathExec', 'pathSocket']
  const inProvider = places.map((name) => authProvider?.config.get(name)?.expose())
  return [clientCertificate, clientKey, tokenFile, exec?.command, ...inProvider]
}
