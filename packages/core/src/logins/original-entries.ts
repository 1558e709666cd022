import { dirname, resolve } from 'node:path'
import { CLUSTER_FIELDS, type FieldTable, USER_FIELDS } from '../kubeconfig/fields.ts'
import { isInlineKubeconfig } from '../kubeconfig/inline-kubeconfig.ts'
import type { ClusterEntry, ExecEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import {
  kubeconfigLocations,
  type LoadOptions,
  readKubeconfigFiles,
  readKubeconfigs,
  readRegularKubeconfig,
} from '../node/load-kubeconfig.ts'
import { Secret } from '../secret/secret.ts'

/** Returns the kubeconfigs that can be read, in order. A broken one is skipped: the tool has read what it needs. */
export async function readAvailableKubeconfigs(
  options: LoadOptions,
  cwd: string,
): Promise<readonly Kubeconfig[]> {
  if (isInlineKubeconfig(options.kubeconfig)) {
    return readKubeconfigs({ ...options, cwd }).then(
      ({ configs }) => configs,
      () => [],
    )
  }
  const { files } = kubeconfigLocations(options, cwd)
  const read = await Promise.all(
    files.map((file) =>
      // The tool has read them before, so a pipe among them would be empty by now.
      readKubeconfigFiles([file], 'skipped', readRegularKubeconfig).then(
        ({ configs }) => configs,
        () => [],
      ),
    ),
  )
  return read.flat()
}

/** A cluster entry and a user entry that belong together. */
export interface EntryPair {
  readonly cluster: ClusterEntry | undefined
  readonly user: UserEntry | undefined
}

/**
 * Finds the kubeconfig entries that client-node's entries were made from, with the fields that it dropped.
 *
 * An entry matches only if it agrees in every field that client-node keeps: programs change their entries. A user may
 * have a token file, which client-node drops; so a user matches only together with its cluster, and only if a context in
 * the files combines the two, so that no credential is sent to another server.
 */
export function findOriginalEntries(
  given: EntryPair,
  files: readonly Kubeconfig[],
  cwd: string,
): EntryPair {
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

/** Whether two clusters agree in every field that client-node keeps. */
export function isSameCluster(one: ClusterEntry, other: ClusterEntry, cwd: string): boolean {
  return clusterText(one, cwd) === clusterText(other, cwd)
}

/** Whether two users agree in every field that client-node keeps. */
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

/** Returns the values of an entry that client-node keeps. It makes paths absolute. */
function keptValues(table: FieldTable, entry: ClusterEntry | UserEntry, cwd: string): unknown[] {
  const values: Readonly<Record<string, unknown>> = { ...entry }
  const base = entry.inline?.folder ?? (entry.file === undefined ? cwd : dirname(entry.file))
  return Object.entries(table).map(([name, { kind, clientNode }]) => {
    const value = clientNode && values[name]
    if (value instanceof Secret) return value.expose()
    return kind === 'path' && typeof value === 'string' ? resolve(base, value) : value
  })
}

function execParts({ args, env, interactiveMode = 'IfAvailable', ...rest }: ExecEntry): unknown {
  return [
    // kubectl prints the default if the file has none.
    interactiveMode,
    Object.entries(rest).sort(),
    args.map((arg) => arg.expose()),
    env.map(({ name, value }) => [name, value.expose()]),
  ]
}

/** Leaves out empty values: client-node adds one. */
function providerParts({ authProvider }: UserEntry): unknown {
  if (authProvider === undefined) return undefined
  const settings = [...authProvider.config].map(([key, value]) => [key, value.expose()])
  return [authProvider.name, settings.filter(([, value]) => value !== '').sort()]
}
