import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

const WRITABLE_BY_OTHERS = 0o022

/**
 * Whether only root can change the file at a path: the file and every folder above it belong to root and are not
 * writable by others.
 *
 * @param path A real path, without links.
 */
export function isSystemPath(path: string): boolean {
  // Node cannot read the access control lists of Windows.
  if (process.platform === 'win32') return false
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isSymbolicLink()) return false
  if (stats.uid !== 0 || (stats.mode & WRITABLE_BY_OTHERS) !== 0) return false
  const above = dirname(path)
  return above === path || isSystemPath(above)
}
