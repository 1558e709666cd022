import type { Environment } from '../formats/plain-object.ts'
import { Secret } from '../secret/secret.ts'
import { EXTERNAL_SIGNER, SIGNER_PATH_PARAMETERS } from './external-signer-config.ts'
import { CLUSTER_FIELDS, type FieldTable, USER_FIELDS } from './fields.ts'
import type { Inline } from './inline-kubeconfig.ts'
import type { AuthProviderEntry, ClusterEntry, UserEntry } from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'
import { describeEntry, type Problem } from './problem.ts'

/** The functions of `node:path` that are needed here, for Unix or Windows. */
export interface Paths {
  readonly separator: string
  isAbsolute(path: string): boolean
  join(...parts: string[]): string
  dirname(path: string): string
}

/** Makes the paths of a cluster entry absolute. They are relative to the directory of its file, or to `cwd`. */
export function resolveClusterPaths(entry: ClusterEntry, cwd: string, paths: Paths): ClusterEntry {
  const base = baseOf(entry, cwd, paths)
  return base === undefined ? entry : resolveFields(CLUSTER_PATHS, entry, base, paths)
}

/**
 * Makes the paths of a user entry absolute, including `exec.command` if it is a path.
 *
 * A name such as `aws` does not change and is looked up in PATH; `./aws` is a file beside the kubeconfig and is never
 * looked up. Arguments of the plugin do not change.
 */
export function resolveUserPaths(entry: UserEntry, cwd: string, paths: Paths): UserEntry {
  const base = baseOf(entry, cwd, paths)
  if (base === undefined) return entry
  const { exec } = entry
  return {
    ...resolveFields(USER_PATHS, entry, base, paths),
    exec: exec && { ...exec, command: resolveCommand(exec.command, base, paths) },
    authProvider: resolveProvider(entry.authProvider, base, paths),
  }
}

/**
 * Lists the relative paths of entries whose kubeconfig was passed without a folder to resolve them against.
 *
 * @param cluster With overrides applied, and so is `user`: a path that an option replaces does not matter.
 */
export function relativePathProblems(
  cluster: ClusterEntry,
  user: UserEntry,
  paths: Paths,
): readonly Problem[] {
  const problem = (entry: string) => (key: string) => ({
    what: `${entry} has a relative path in ${key}, and no folder to resolve it against`,
    remedy: 'Pass kubeconfig as { text, folder }, or write the path in full.',
  })
  const isUnresolved = ({ inline }: ClusterEntry | UserEntry): boolean =>
    inline !== undefined && inline.folder === undefined
  return [
    ...(isUnresolved(cluster)
      ? relativeClusterPaths(cluster, paths).map(problem(describeEntry('cluster', cluster)))
      : []),
    ...(isUnresolved(user)
      ? relativeUserPaths(user, paths).map(problem(describeEntry('user', user)))
      : []),
  ]
}

/** Returns the keys of a cluster entry that hold a relative path. */
export function relativeClusterPaths(entry: ClusterEntry, paths: Paths): readonly string[] {
  return relativeKeys(CLUSTER_FIELDS, entry, paths)
}

/** Returns the keys of a user entry that hold a relative path. */
export function relativeUserPaths(entry: UserEntry, paths: Paths): readonly string[] {
  const { exec, authProvider } = entry
  const inProvider = authProvider === undefined ? [] : providerPaths(authProvider)
  return [
    ...relativeKeys(USER_FIELDS, entry, paths),
    ...(isRelativeCommand(exec?.command, paths) ? ['exec.command'] : []),
    ...inProvider.flatMap(([key, kind]) => {
      const path = authProvider?.config.get(key)?.expose()
      const isRelative =
        kind === 'program' ? isRelativeCommand(path, paths) : isRelativePath(path, paths)
      return isRelative ? [`auth-provider.config.${key}`] : []
    }),
  ]
}

function relativeKeys(
  table: FieldTable,
  entry: ClusterEntry | UserEntry,
  paths: Paths,
): readonly string[] {
  const values: Readonly<Record<string, unknown>> = { ...entry }
  return Object.entries(table).flatMap(([name, { kind, key }]) => {
    const value = values[name]
    return kind === 'path' && typeof value === 'string' && isRelativePath(value, paths) ? [key] : []
  })
}

/** Makes the paths given by flags absolute: a flag is relative to the current folder. */
export function resolveOverridePaths(overrides: Overrides, cwd: string, paths: Paths): Overrides {
  return resolveFields(ALL_PATHS, overrides, cwd, paths)
}

/** The names of the fields that are paths, computed once because a kubeconfig may have 10,000 entries. */
const CLUSTER_PATHS = pathsIn(CLUSTER_FIELDS)
const USER_PATHS = pathsIn(USER_FIELDS)
const ALL_PATHS = [...CLUSTER_PATHS, ...USER_PATHS]

function pathsIn(table: FieldTable): readonly string[] {
  return Object.keys(table).filter((name) => table[name]?.kind === 'path')
}

function resolveFields<T extends object>(
  names: readonly string[],
  values: T,
  base: string,
  paths: Paths,
): T {
  const resolved = { ...values } as Record<string, unknown>
  for (const name of names) {
    const value = resolved[name]
    if (typeof value === 'string') resolved[name] = absolute(value, base, paths)
  }
  return resolved as T
}

/** Returns the folder that the paths of an entry resolve against; undefined if there is none. */
function baseOf(
  { file, inline }: { readonly file: string | undefined; readonly inline?: Inline },
  cwd: string,
  paths: Paths,
): string | undefined {
  if (inline !== undefined) return inline.folder
  return file === undefined ? cwd : paths.dirname(absolute(file, cwd, paths) ?? file)
}

/** In client-go, the CA of an issuer is the only path in a kubeconfig that is relative to the working directory. */
function resolveProvider(
  provider: AuthProviderEntry | undefined,
  base: string,
  paths: Paths,
): AuthProviderEntry | undefined {
  if (provider === undefined) return undefined
  const config = new Map(provider.config)
  const resolve = (key: string, resolvePath: typeof absolute): void => {
    const path = resolvePath(provider.config.get(key)?.expose(), base, paths)
    if (path) config.set(key, new Secret(path))
  }
  for (const [key, kind] of providerPaths(provider)) {
    resolve(key, kind === 'program' ? resolveCommand : absolute)
  }
  return { ...provider, config }
}

/** The settings of a provider that are paths. Of a signer's parameters only these are ours: it interprets the others. */
function providerPaths({ name }: AuthProviderEntry): readonly (readonly [string, string])[] {
  const signer = name === EXTERNAL_SIGNER ? Object.entries(SIGNER_PATH_PARAMETERS) : []
  return [['idp-certificate-authority', 'file'], ...signer]
}

function resolveCommand(command: string | undefined, base: string, paths: Paths) {
  return isRelativeCommand(command, paths) ? absolute(command, base, paths) : command
}

/** A command without a separator is a name to look up in PATH, and not a path. */
function isRelativeCommand(command: string | undefined, paths: Paths): boolean {
  // Windows takes a slash for a separator too, so that `./plugin` is a path there as well.
  const isPath = command?.includes(paths.separator) === true || command?.includes('/') === true
  return isPath && isRelativePath(command, paths)
}

function isRelativePath(path: string | undefined, paths: Paths): boolean {
  return path !== undefined && path !== '' && !paths.isAbsolute(path)
}

function absolute(path: string | undefined, base: string, paths: Paths): string | undefined {
  return path !== undefined && isRelativePath(path, paths) ? paths.join(base, path) : path
}

/**
 * Splits the value of KUBECONFIG into paths, without empty and repeated ones.
 *
 * @param separator `:`, or `;` on Windows, where a quoted path may contain the separator.
 */
export function splitKubeconfigList(value: string, separator: string): readonly string[] {
  const elements = separator === ';' ? splitQuoted(value) : value.split(separator)
  return [...new Set(elements.filter((element) => element !== ''))]
}

function splitQuoted(value: string): readonly string[] {
  return (value.match(/(?:"[^"]*"|[^;])+/g) ?? []).map((element) => element.replaceAll('"', ''))
}

/** The state of a directory that may be the home directory. */
export interface FolderFacts {
  readonly exists: boolean
  readonly writable: boolean
  /** Whether it contains `.kube\config`. */
  readonly hasKubeconfig: boolean
}

/**
 * Returns the home directory on Windows by client-go's rules, so that both use the same kubeconfig.
 *
 * The first directory with a kubeconfig wins, in the order HOME, HOMEDRIVE with HOMEPATH, USERPROFILE. Without any, the
 * order is HOME, USERPROFILE, HOMEDRIVE with HOMEPATH, and the first writable directory wins, then the first that
 * exists, then the first that is set.
 */
export function windowsHome(
  env: Environment,
  look: (folder: string) => FolderFacts,
): string | undefined {
  const home = env['HOME']
  const profile = env['USERPROFILE']
  const { HOMEDRIVE: drive, HOMEPATH: path } = env
  const driveAndPath = drive && path ? `${drive}${path}` : undefined
  const facts = new Map(
    present(home, profile, driveAndPath).map((folder) => [folder, look(folder)] as const),
  )
  const ordered = present(home, profile, driveAndPath)
  return (
    present(home, driveAndPath, profile).find((folder) => facts.get(folder)?.hasKubeconfig) ??
    ordered.find((folder) => facts.get(folder)?.writable) ??
    ordered.find((folder) => facts.get(folder)?.exists) ??
    ordered[0]
  )
}

function present(...folders: (string | undefined)[]): string[] {
  return folders.filter((folder) => folder !== undefined && folder !== '') as string[]
}
