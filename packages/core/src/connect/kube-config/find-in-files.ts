import type { ClusterEntry, Kubeconfig, UserEntry } from '../../kubeconfig/kubeconfig.ts'
import { type LoadOptions, placesOf, readRegularKubeconfig } from '../../node/load-kubeconfig.ts'
import { readKubeconfigFiles } from '../../node/read-kubeconfig-files.ts'
import { isSameCluster, isSameUser } from './same-entry.ts'

/** The kubeconfigs that can be read, in order; a broken one is no error, because client-node has read what it needs. */
export async function readFiles(options: LoadOptions, cwd: string): Promise<readonly Kubeconfig[]> {
  const { files } = placesOf(options, cwd)
  const read = await Promise.all(
    files.map((file) =>
      // client-node has read them before, so a pipe among them would be empty by now.
      readKubeconfigFiles([file], 'skipped', readRegularKubeconfig).then(
        ({ configs }) => configs,
        () => [],
      ),
    ),
  )
  return read.flat()
}

/** Entries of a cluster and a user that belong together. */
export interface Found {
  readonly cluster: ClusterEntry | undefined
  readonly user: UserEntry | undefined
}

/**
 * Finds the entries that client-node's were made from, with everything it dropped.
 *
 * An entry counts only if it agrees with client-node's in all that is left there: programs change theirs.
 * A user may have a token file, of which nothing is left: it counts only together with its cluster, and
 * where the files themselves put the two together, so that no credential goes to a server it is not for.
 */
export function findEntries(given: Found, files: readonly Kubeconfig[], cwd: string): Found {
  const cluster = given.cluster && findCluster(given.cluster, files, cwd)
  if (given.user === undefined || cluster === undefined) return { cluster, user: undefined }
  const { name } = given.user
  const isPair = files.some(({ contexts }) =>
    [...contexts.values()].some((one) => one.cluster === cluster.name && one.user === name),
  )
  return { cluster, user: isPair ? findUser(given.user, files, cwd) : undefined }
}

function findCluster(
  given: ClusterEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): ClusterEntry | undefined {
  const named = files.flatMap(({ clusters }) => clusters.get(given.name) ?? [])
  return named.find((entry) => isSameCluster(entry, given, cwd))
}

function findUser(
  given: UserEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): UserEntry | undefined {
  const named = files.flatMap(({ users }) => users.get(given.name) ?? [])
  return named.find((entry) => isSameUser(entry, given, cwd))
}
