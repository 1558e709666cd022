import { dirname, resolve } from 'node:path'
import { CLUSTER_FIELDS, type FieldTable, USER_FIELDS } from '../kubeconfig/fields.ts'
import type { ClusterEntry, ExecEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import {
  kubeconfigLocations,
  type LoadOptions,
  readKubeconfigFiles,
  readRegularKubeconfig,
} from '../node/load-kubeconfig.ts'
import { Secret } from '../secret/secret.ts'

/** The kubeconfigs that can be read, in order; a broken one is no error, because client-node has read what it needs. */
export async function readFiles(options: LoadOptions, cwd: string): Promise<readonly Kubeconfig[]> {
  const { files } = kubeconfigLocations(options, cwd)
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

/** Whether two clusters agree in all that client-node keeps of one. */
export function isSameCluster(one: ClusterEntry, other: ClusterEntry, cwd: string): boolean {
  return clusterText(one, cwd) === clusterText(other, cwd)
}

/** Whether two users agree in all that client-node keeps of one. */
export function isSameUser(one: UserEntry, other: UserEntry, cwd: string): boolean {
  return userText(one, cwd) === userText(other, cwd)
}

function clusterText(entry: ClusterEntry, cwd: string): string {
  const server = entry.server?.replace(/\/$/, '')
  return JSON.stringify(keptValues(CLUSTER_FIELDS, { ...entry, server }, cwd))
}

function userText(entry: UserEntry, cwd: string): string {
  return JSON.stringify([
    keptValues(USER_FIELDS, entry, cwd),
    entry.exec && execParts(entry.exec),
    providerParts(entry),
  ])
}

/** The values of an entry that client-node keeps; the paths among them it makes absolute. */
function keptValues(table: FieldTable, entry: ClusterEntry | UserEntry, cwd: string): unknown[] {
  const values: Readonly<Record<string, unknown>> = { ...entry }
  const base = entry.file === undefined ? cwd : dirname(entry.file)
  return Object.entries(table).map(([name, { kind, clientNode }]) => {
    const value = clientNode && values[name]
    if (value instanceof Secret) return value.expose()
    return kind === 'path' && typeof value === 'string' ? resolve(base, value) : value
  })
}

function execParts({ args, env, interactiveMode = 'IfAvailable', ...rest }: ExecEntry): unknown {
  return [
    // kubectl writes it down where the file does not say.
    interactiveMode,
    Object.entries(rest).sort(),
    args.map((arg) => arg.expose()),
    env.map(({ name, value }) => [name, value.expose()]),
  ]
}

/** Without the empty values, one of which client-node adds. */
function providerParts({ authProvider }: UserEntry): unknown {
  if (authProvider === undefined) return undefined
  const settings = [...authProvider.config].map(([key, value]) => [key, value.expose()])
  return [authProvider.name, settings.filter(([, value]) => value !== '').sort()]
}
