import process from 'node:process'
import { isatty } from 'node:tty'
import type { Environment } from '../formats/plain-object.ts'
import type { Terminal } from '../ports/terminal.ts'

/** Returns the environment of this process. Read on each call, because programs change it while they run. */
export function hostEnvironment(): Environment {
  return process.env
}

/** The terminal of this process. Uses the file descriptor, because `process.stdin` would start to read from it. */
export const nodeTerminal: Terminal = { isTerminal: () => isatty(0) }

/** The runtime of this process. Bun and Deno also set `process.versions.node`. */
export const RUNTIME =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node'
