import { lstatSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

const GROUP_AND_OTHERS = 0o077
const GROUP_AND_OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * Returns why a folder is not private to this user; undefined if it is, or if it does not exist yet.
 *
 * Symbolic links are not followed: another user could place one to redirect our secrets.
 */
export function folderFault(folder: string): string | undefined {
  const parent = dirname(folder)
  const above = statSync(parent, { throwIfNoEntry: false })
  if (above === undefined) return `${parent} does not exist`
  const aboveFault = parentFault(above)
  if (aboveFault !== undefined) return `${parent} ${aboveFault}`
  const facts = lstatSync(folder, { throwIfNoEntry: false })
  if (facts === undefined) return undefined
  if (facts.isSymbolicLink()) return 'it is a symbolic link'
  if (!facts.isDirectory()) return 'it is not a folder'
  return ownerFault(facts)
}

/** Returns why a file or folder is not private to this user. */
export function ownerFault({ uid, mode }: Stats): string | undefined {
  // Windows has neither owner IDs nor modes.
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid()) return 'it belongs to another user'
  if ((mode & GROUP_AND_OTHERS) !== 0) return 'other users have access to it'
  return undefined
}

/** Returns why a parent folder is not safe: a user who can write to it could replace our folder after the check. */
export function parentFault({ uid, mode }: Stats): string | undefined {
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid() && uid !== 0) return 'belongs to another user'
  const isOpen = (mode & GROUP_AND_OTHERS_WRITE) !== 0 && (mode & STICKY) === 0
  return isOpen ? 'is writable by other users' : undefined
}
