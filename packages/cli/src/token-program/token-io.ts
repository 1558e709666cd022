import type { Environment } from 'kubecred/internal'

/** What `kubecred-token` uses of its process. */
export interface TokenIo {
  readonly env: Environment
  readonly cwd: string
  /** Process ID of the client that started this process. */
  readonly parent: number
  /** Path of the running program; undefined for the single executable, whose file is also `kubecred`. */
  readonly own: string | undefined
  /** Whether standard input (0) or standard error (2) is a terminal. */
  isTerminal(descriptor: 0 | 2): Promise<boolean>
  /** Stops writing notices because a plugin now prompts at the terminal. */
  yieldTerminal(): void
  /** Writes a message of our own to standard error. */
  writeLine(text: string): void
  /** Passes on the standard error of a plugin, without secrets. */
  passStderr(text: string): void
}
