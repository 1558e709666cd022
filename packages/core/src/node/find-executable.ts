import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import type { Located } from '../ports/programs.ts'

export interface Lookup {
  /** The host's PATH: what the stanza sets for the plugin does not count here, as in client-go. */
  readonly path: string | undefined
  /** Folders to look in before PATH, for programs with another environment than the user's shell. */
  readonly extraFolders?: readonly string[] | undefined
  readonly pathExt?: string | undefined
}

/**
 * Finds the file for a command.
 *
 * A name without a separator is looked up in PATH, in absolute folders only: an empty or relative
 * element would let whoever owns the current folder choose the program.
 */
export async function findExecutable(command: string, lookup: Lookup): Promise<Located> {
  if (command.includes('/') || (isWindows && command.includes('\\'))) {
    const path = resolve(command)
    return (await inspect(path)) ?? { is: 'missing', lookedIn: [dirname(path)] }
  }
  const folders = [...(lookup.extraFolders ?? []), ...(lookup.path ?? '').split(delimiter)].filter(
    (folder, index, all) => isAbsolute(folder) && all.indexOf(folder) === index,
  )
  let unusable: Located | undefined
  for (const folder of command === '' ? [] : folders) {
    for (const name of fileNames(command, lookup.pathExt)) {
      const found = await inspect(join(folder, name))
      if (found?.is === 'found') return found
      unusable ??= found
    }
  }
  return unusable ?? { is: 'missing', lookedIn: folders }
}

const isWindows = process.platform === 'win32'

function fileNames(command: string, pathExt = '.COM;.EXE;.BAT;.CMD'): readonly string[] {
  if (!isWindows) return [command]
  const extensions = pathExt.split(';').filter((extension) => extension !== '')
  const has = extensions.some((extension) =>
    command.toLowerCase().endsWith(extension.toLowerCase()),
  )
  return has ? [command] : extensions.map((extension) => command + extension)
}

/** Undefined when there is nothing. */
async function inspect(path: string): Promise<Located | undefined> {
  try {
    const facts = await stat(path)
    if (facts.isDirectory()) return { is: 'unusable', path, reason: 'it is a folder' }
    if (!facts.isFile()) return { is: 'unusable', path, reason: 'it is not a regular file' }
    await access(path, constants.X_OK)
    const realPath = await realpath(path)
    const writableByOthers = isWindows ? undefined : await findWritable(path, realPath)
    return { is: 'found', path, realPath, ...(writableByOthers && { writableByOthers }) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return {
      is: 'unusable',
      path,
      reason: REASONS[code ?? ''] ?? `it cannot be inspected (${code})`,
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied, it may not be executed',
  ELOOP: 'its symbolic links go round in a circle',
  ENAMETOOLONG: 'its name is too long',
}

const OTHERS_WRITE = 0o002
const STICKY = 0o1000

/** Group-writable folders are how package managers work on some systems; world-writable ones are how attacks do. */
async function findWritable(path: string, realPath: string): Promise<string | undefined> {
  const file = await stat(realPath)
  if ((file.mode & OTHERS_WRITE) !== 0)
    return `${JSON.stringify(realPath)} can be changed by every user`
  // A link is as safe as the folder it stands in, and the file as the one it leads to.
  for (const each of [realPath, path]) {
    const { mode } = await stat(dirname(each))
    if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0)
      return `${JSON.stringify(each)} can be replaced by every user: its folder is writable`
  }
  return undefined
}
