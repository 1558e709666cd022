// Where the programs of the cluster suite are kept: outside of the tree, one folder per version, so that two checkouts
// share them and a new version does not disturb a run that goes on.
import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The folder for everything that is built. */
export function cacheFolder(env = process.env) {
  const { XDG_CACHE_HOME: cache = '' } = env
  // The XDG rules say that a relative path counts for nothing.
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'kubecred', 'cluster')
}

/** Where a program is, or will be, after it was built. */
export function builtPath({ name, go }, env = process.env) {
  return join(cacheFolder(env), `${name}-${go.version}-${process.platform}-${process.arch}`, name)
}

/** Where a program is that somebody else brought, if it is there. */
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
