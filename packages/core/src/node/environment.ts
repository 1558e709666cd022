import { delimiter, isAbsolute } from 'node:path'
import process from 'node:process'
import { isatty } from 'node:tty'
import type { Environment } from '../formats/plain-object.ts'
import type { Terminal } from '../ports/terminal.ts'
import { upperCaseNames } from './windows-programs.ts'

/** Returns the environment of this process. Read on each call, because programs change it while they run. */
export function hostEnvironment(): Environment {
  return process.env
}

/** The runtime of this process. Bun and Deno also set `process.versions.node`. */
export const RUNTIME =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node'

/**
 * Returns an environment in which variables can be looked up by names in upper case.
 *
 * On Windows names are case-insensitive, and PATH is called `Path`; `process.env` knows that, but its copies do not.
 */
export function withSystemNames<T extends string | undefined>(
  env: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return process.platform === 'win32' ? upperCaseNames(env) : env
}

/** Returns the name of a variable as {@link withSystemNames} has it. */
export function systemName(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name
}

/**
 * Returns an environment with further folders at the end of PATH, so that a program finds those that it starts itself.
 *
 * Its names are those of {@link withSystemNames}. Only absolute folders are added: with a relative one, the owner of the
 * current folder could choose the program.
 */
export function withFolders(env: Environment, folders: readonly string[] = []): Environment {
  const named = withSystemNames(env)
  const path = named['PATH'] ?? ''
  const known = path.split(delimiter)
  const added = [...new Set(folders)].filter(
    (folder) => isAbsolute(folder) && !known.includes(folder),
  )
  if (added.length === 0) return named
  const all = path === '' ? added : [path, ...added]
  return { ...named, PATH: all.join(delimiter) }
}

/** The terminal of this process. Uses the file descriptor, because `process.stdin` would start to read from it. */
export const nodeTerminal: Terminal = { isTerminal: () => isatty(0) }
