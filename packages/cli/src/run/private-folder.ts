import { lstatSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'

const GROUP_AND_OTHERS = 0o077
const GROUP_AND_OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * What is wrong with a folder that only we may use; undefined when nothing is, and when it is not there yet.
 *
 * Symbolic links are not followed: whoever could put one there would say where our secrets go.
 */
export function findFault(folder: string): string | undefined {
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

/** What is wrong with something that only we may read and write. */
export function ownerFault({ uid, mode }: Stats): string | undefined {
  // Windows has neither.
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid()) return 'it belongs to another user'
  if ((mode & GROUP_AND_OTHERS) !== 0) return 'others than you have access to it'
  return undefined
}

/** Who can write to the folder above could put another in the place of ours after we looked. */
export function parentFault({ uid, mode }: Stats): string | undefined {
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid() && uid !== 0) return 'belongs to another user'
  const isOpen = (mode & GROUP_AND_OTHERS_WRITE) !== 0 && (mode & STICKY) === 0
  return isOpen ? 'can be written to by others' : undefined
}
