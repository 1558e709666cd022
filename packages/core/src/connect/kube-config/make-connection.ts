import process from 'node:process'
import { buildConnection } from '../../kubeconfig/build-connection.ts'
import type { Connection } from '../../kubeconfig/connection.ts'
import type { Kubeconfig } from '../../kubeconfig/kubeconfig.ts'
import { type Environment, hostEnvironment } from '../../node/host-environment.ts'
import { findEntries, readFiles } from './find-in-files.ts'
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
  { kubeconfig, env = hostEnvironment() }: LookupPlaces,
): Promise<Connection> {
  const cwd = process.cwd()
  const given = givenEntries(selection)
  const [cluster] = given.clusters.values()
  const [user] = given.users.values()
  const found = findEntries({ cluster, user }, await readFiles({ kubeconfig, env }, cwd), cwd)
  const files = [found.cluster?.file, found.user?.file].filter((file) => file !== undefined)
  const chosenCluster = found.cluster ?? cluster
  const chosenUser = found.user ?? user
  const config: Kubeconfig = {
    ...given,
    clusters: mapOf(chosenCluster && settleCluster(chosenCluster)),
    users: mapOf(chosenUser && settleUser(chosenUser)),
    files: [...new Set(files)],
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

function mapOf<T extends { readonly name: string }>(entry: T | undefined): ReadonlyMap<string, T> {
  return new Map(entry === undefined ? [] : [[entry.name, entry]])
}
