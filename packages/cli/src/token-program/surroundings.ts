/** What `kubecred-token` knows of the process it is. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The process that started us. */
  readonly parent: number
  /** The file that runs. */
  readonly own: string
  /** Whether standard input is a terminal. */
  isTerminal(): Promise<boolean>
  /** A line for people. */
  tell(text: string): void
  /** What a plugin said, without secrets. */
  pass(text: string): void
}
