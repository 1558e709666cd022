// Where the programs of the cluster suite are cached: outside of the tree, one folder per version, so that checkouts share
// them and a new version does not affect a run in progress.
import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The folder for everything that is built. */
export function cacheFolder(env = process.env) {
  const { XDG_CACHE_HOME: cache = '' } = env
  // The XDG specification says to ignore a relative path.
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'kubecred', 'cluster')
}

/** Returns the path of a program in the cache, whether it has been built or not. */
export function builtPath({ name, go }, env = process.env) {
  return join(cacheFolder(env), `${name}-${go.version}-${process.platform}-${process.arch}`, name)
}

/** Returns the path of a program in `KUBEBUILDER_ASSETS`, if it is there. */
export function broughtPath({ name }, env = process.env) {
  const folder = env.KUBEBUILDER_ASSETS ?? ''
  const path = join(folder, name)
  return folder !== '' && isExecutable(path) ? path : undefined
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
