import { mkdirSync } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { type Environment, folderFault } from 'kubecred/internal'

/** Since Node 22.1. */
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown }

/**
 * Lets Node keep the compiled form of our files, so that the next start is faster. Without a safe folder it does nothing.
 *
 * Node does not check who wrote its cache, and by default it is in the temporary folder, where another user can create it
 * first. What is in it is run.
 */
export function useCompileCache(env: Environment): void {
  if (enableCompileCache === undefined) return
  const folder = compileCacheFolder(env)
  // Never throws. If the user has chosen a folder with NODE_COMPILE_CACHE, that one stays in use.
  if (folder !== undefined) enableCompileCache(folder)
}

/** Returns a folder that only this user can write to, below the user's cache folder; undefined if there is none. */
export function compileCacheFolder(env: Environment): string | undefined {
  // On Windows a folder does not tell who can write to it.
  if (env['NODE_DISABLE_COMPILE_CACHE'] || process.getuid === undefined) return undefined
  const caches = env['XDG_CACHE_HOME'] || (env['HOME'] && join(env['HOME'], '.cache'))
  if (!caches?.startsWith('/')) return undefined
  const folder = join(caches, 'kubecred')
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // It exists, or it cannot be created.
  }
  try {
    return folderFault(folder) === undefined ? folder : undefined
  } catch {
    return undefined
  }
}
