import { dirname, resolve } from 'node:path'
import type { ClusterEntry, ExecEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import {
  type LoadOptions,
  placesOf,
  readKubeconfigFiles,
  readRegularKubeconfig,
} from '../node/load-kubeconfig.ts'

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

/** Whether two clusters agree in all that client-node keeps of one. */
export function isSameCluster(one: ClusterEntry, other: ClusterEntry, cwd: string): boolean {
  return clusterText(one, cwd) === clusterText(other, cwd)
}

/** Whether two users agree in all that client-node keeps of one. */
export function isSameUser(one: UserEntry, other: UserEntry, cwd: string): boolean {
  return userText(one, cwd) === userText(other, cwd)
}

function clusterText(entry: ClusterEntry, cwd: string): string {
  return JSON.stringify([
    entry.server?.replace(/\/$/, ''),
    entry.tlsServerName,
    entry.insecureSkipTlsVerify,
    absolute(entry.certificateAuthority, entry, cwd),
    entry.certificateAuthorityData,
    entry.proxyUrl?.expose(),
  ])
}

function userText(entry: UserEntry, cwd: string): string {
  return JSON.stringify([
    entry.token?.expose(),
    entry.username,
    entry.password?.expose(),
    absolute(entry.clientCertificate, entry, cwd),
    entry.clientCertificateData,
    absolute(entry.clientKey, entry, cwd),
    entry.clientKeyData?.expose(),
    entry.as,
    entry.exec && execParts(entry.exec),
    providerParts(entry),
  ])
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

/** client-node makes these paths absolute, against the folder of the file. */
function absolute(
  path: string | undefined,
  { file }: { readonly file: string | undefined },
  cwd: string,
): string | undefined {
  return path === undefined ? undefined : resolve(file === undefined ? cwd : dirname(file), path)
}
