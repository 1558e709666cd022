import { delimiter, isAbsolute } from 'node:path'
import process from 'node:process'
import { isatty } from 'node:tty'
import type { Environment } from '../formats/plain-object.ts'
import type { Terminal } from '../ports/terminal.ts'

/** Returns the environment of this process. Read on each call, because programs change it while they run. */
export function hostEnvironment(): Environment {
  return process.env
}

/**
 * Returns an environment with further folders at the end of PATH, so that a program finds those that it starts itself.
 *
 * Only absolute ones: with a relative folder, the owner of the current folder could choose the program.
 */
export function withFolders(env: Environment, folders: readonly string[] = []): Environment {
  // Variable names are case-insensitive on Windows, where it is `Path`; an object with a copy of them is not.
  const name =
    process.platform === 'win32'
      ? (Object.keys(env).find((each) => each.toUpperCase() === 'PATH') ?? 'PATH')
      : 'PATH'
  const path = env[name] ?? ''
  const known = path.split(delimiter)
  const added = [...new Set(folders)].filter(
    (folder) => isAbsolute(folder) && !known.includes(folder),
  )
  if (added.length === 0) return env
  const all = path === '' ? added : [path, ...added]
  return { ...env, [name]: all.join(delimiter) }
}

/** The terminal of this process. Uses the file descriptor, because `process.stdin` would start to read from it. */
export const nodeTerminal: Terminal = { isTerminal: () => isatty(0) }
