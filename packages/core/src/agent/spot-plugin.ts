import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { FoundPlugin } from './find-plugin.ts'

/**
 * Finds the file for a command where it is plainly there, without waiting for anything.
 *
 * It follows the rules of `findExecutable`, which has to say what is wrong when this finds nothing: a name is looked
 * up in the absolute folders of PATH, and what comes first but cannot be used is left to the other to judge.
 */
export function spotPlugin(command: string, path: string | undefined): FoundPlugin | undefined {
  if (command === '' || process.platform === 'win32') return undefined
  if (command.includes('/')) return look(resolve(command))
  for (const folder of (path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue
    const found = look(join(folder, command))
    if (found !== undefined) return found
  }
  return undefined
}

function look(path: string): FoundPlugin | undefined {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    accessSync(path, constants.X_OK)
    return { is: 'found', path, realPath: realpathSync.native(path) }
  } catch {
    return undefined
  }
}
