import type { Environment } from 'kubecred/internal'

/** What `kubecred-token` knows of the process it is. */
export interface Surroundings {
  readonly env: Environment
  readonly cwd: string
  /** The process that started us. */
  readonly parent: number
  /** The file that runs. */
  readonly own: string
  /** Whether standard input (0) or standard error (2) is a terminal. */
  isTerminal(descriptor: 0 | 2): Promise<boolean>
  /** A plugin has the terminal, and may ask there. */
  giveTerminal(): void
  /** A line for people. */
  tell(text: string): void
  /** What a plugin said, without secrets. */
  pass(text: string): void
}
