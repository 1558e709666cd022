import { isatty } from 'node:tty'
import type { Terminal } from '../ports/terminal.ts'

/** Asks the descriptor, not `process.stdin`: touching that would start reading from it. */
export const nodeTerminal: Terminal = { isTerminal: () => isatty(0) }
