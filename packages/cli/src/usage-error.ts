/** Something was typed that cannot be meant; nothing was done. */
export class UsageError extends Error {
  /** The command whose help explains it. */
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}
