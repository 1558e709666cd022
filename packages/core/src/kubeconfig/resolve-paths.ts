import { Secret } from '../secret/secret.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import type { AuthProviderEntry, ClusterEntry, UserEntry } from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'

/** What this layer needs of `node:path`, so that it works for either kind of system. */
export interface Paths {
  readonly separator: string
  isAbsolute(path: string): boolean
  join(...parts: string[]): string
  dirname(path: string): string
}

/** Makes the paths of a cluster entry absolute: relative ones start at the folder of its file, or at `cwd`. */
export function resolveClusterPaths(entry: ClusterEntry, cwd: string, paths: Paths): ClusterEntry {
  const base = baseOf(entry.file, cwd, paths)
  return { ...entry, certificateAuthority: absolute(entry.certificateAuthority, base, paths) }
}

/**
 * Makes the paths of a user entry absolute, `exec.command` included if it is a path at all.
 *
 * A plain name such as `aws` stays as it is and is looked up in PATH; `./aws` is a file beside the kubeconfig
 * and never a lookup. Arguments of the plugin are not touched.
 */
export function resolveUserPaths(entry: UserEntry, cwd: string, paths: Paths): UserEntry {
  const base = baseOf(entry.file, cwd, paths)
  const { exec } = entry
  return {
    ...entry,
    clientCertificate: absolute(entry.clientCertificate, base, paths),
    clientKey: absolute(entry.clientKey, base, paths),
    tokenFile: absolute(entry.tokenFile, base, paths),
    exec: exec && { ...exec, command: resolveCommand(exec.command, base, paths) },
    authProvider: resolveProvider(entry.authProvider, base, paths),
  }
}

/** Makes the paths given by flags absolute: a flag is relative to the current folder. */
export function resolveOverridePaths(overrides: Overrides, cwd: string, paths: Paths): Overrides {
  return {
    ...overrides,
    certificateAuthority: absolute(overrides.certificateAuthority, cwd, paths),
    clientCertificate: absolute(overrides.clientCertificate, cwd, paths),
    clientKey: absolute(overrides.clientKey, cwd, paths),
  }
}

function baseOf(file: string | undefined, cwd: string, paths: Paths): string {
  return file === undefined ? cwd : paths.dirname(absolute(file, cwd, paths) ?? file)
}

/** client-go leaves the CA of an issuer to the current folder, as the only path in a kubeconfig. */
function resolveProvider(
  provider: AuthProviderEntry | undefined,
  base: string,
  paths: Paths,
): AuthProviderEntry | undefined {
  if (provider === undefined) return undefined
  const config = new Map(provider.config)
  const resolve = (key: string, how: typeof absolute): void => {
    const path = how(provider.config.get(key)?.expose(), base, paths)
    if (path) config.set(key, new Secret(path))
  }
  resolve('idp-certificate-authority', absolute)
  if (provider.name === EXTERNAL_SIGNER) {
    // Only these two are ours. What a signer takes for a path is its own business.
    resolve('pathExec', resolveCommand)
    resolve('pathSocket', absolute)
  }
  return { ...provider, config }
}

function resolveCommand(command: string | undefined, base: string, paths: Paths) {
  // Windows takes a slash for a separator too, so that `./plugin` is a path there as well.
  const isPath = command?.includes(paths.separator) === true || command?.includes('/') === true
  return isPath ? absolute(command, base, paths) : command
}

function absolute(path: string | undefined, base: string, paths: Paths): string | undefined {
  if (path === undefined || path === '' || paths.isAbsolute(path)) return path
  return paths.join(base, path)
}
