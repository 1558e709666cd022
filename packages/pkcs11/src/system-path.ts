import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

const WRITABLE_BY_OTHERS = 0o022

/**
 * Whether only root can change what is at a path: it and every folder above it belong to root and are closed to
 * writing by others.
 *
 * @param path Real, without links in it.
 */
export function isSystemPath(path: string): boolean {
  // Windows has other rules, which Node cannot see.
  if (process.platform === 'win32') return false
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isSymbolicLink()) return false
  if (stats.uid !== 0 || (stats.mode & WRITABLE_BY_OTHERS) !== 0) return false
  const above = dirname(path)
  return above === path || isSystemPath(above)
}
