import process from 'node:process'
import { buildConnection } from '../../kubeconfig/build-connection.ts'
import type { Connection, Impersonation } from '../../kubeconfig/connection.ts'
import type { Kubeconfig } from '../../kubeconfig/kubeconfig.ts'
import { impersonationOf } from '../../kubeconfig/user-identity.ts'
import { type Environment, hostEnvironment } from '../../node/host-environment.ts'
import { type Found, findEntries, readFiles } from './find-in-files.ts'
import { givenEntries, settleCluster, settleUser } from './given-entries.ts'
import { NODE_PATHS } from './node-paths.ts'
import type { Selection } from './selection.ts'

/** Where to look up what client-node dropped when it read its files. */
export interface LookupPlaces {
  /** KUBECONFIG or `~/.kube/config` unless given. */
  readonly kubeconfig?: string | readonly string[] | undefined
  readonly env?: Environment | undefined
}

/**
 * Makes a connection of ours from what a KubeConfig says, completed from the files it was read from.
 *
 * @throws {CredentialError} Names entry and remedy.
 */
export async function makeConnection(
  selection: Selection,
  places: LookupPlaces,
): Promise<Connection> {
  const cwd = process.cwd()
  const { given, cluster, user, files } = await lookUp(selection, places, cwd)
  const config: Kubeconfig = {
    ...given,
    clusters: mapOf(cluster && settleCluster(cluster)),
    users: mapOf(user && settleUser(user)),
    files,
  }
  return buildConnection(
    config,
    {},
    {
      paths: NODE_PATHS,
      cwd,
      looked: 'the KubeConfig has no current context',
    },
  )
}

/** Whom the user of a KubeConfig is to act as, with the groups that client-node dropped, whoever the user is. */
export async function findImpersonation(
  selection: Selection,
  places: LookupPlaces,
): Promise<Impersonation | undefined> {
  if (!selection.user?.impersonateUser) return undefined
  const { user } = await lookUp(selection, places, process.cwd())
  return user && impersonationOf(user)
}

interface LookedUp extends Found {
  readonly given: Kubeconfig
  /** Where something was found. */
  readonly files: readonly string[]
}

async function lookUp(
  selection: Selection,
  { kubeconfig, env = hostEnvironment() }: LookupPlaces,
  cwd: string,
): Promise<LookedUp> {
  const given = givenEntries(selection)
  const [cluster] = given.clusters.values()
  const [user] = given.users.values()
  const found = findEntries({ cluster, user }, await readFiles({ kubeconfig, env }, cwd), cwd)
  const files = [found.cluster?.file, found.user?.file].filter((file) => file !== undefined)
  return {
    given,
    cluster: found.cluster ?? cluster,
    user: found.user ?? user,
    files: [...new Set(files)],
  }
}

function mapOf<T extends { readonly name: string }>(entry: T | undefined): ReadonlyMap<string, T> {
  return new Map(entry === undefined ? [] : [[entry.name, entry]])
}
