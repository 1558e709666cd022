import process from 'node:process'
import { isatty } from 'node:tty'
import type { Environment } from '../formats/plain-object.ts'
import type { Terminal } from '../ports/terminal.ts'

/** The environment of this process, read when asked: programs change it while they run. */
export function hostEnvironment(): Environment {
  return process.env
}

/** Asks the descriptor, not `process.stdin`: touching that would start reading from it. */
export const nodeTerminal: Terminal = { isTerminal: () => isatty(0) }

/** The runtime of this process. Bun and Deno say so themselves; they also claim to be some version of Node. */
export const RUNTIME =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node'
