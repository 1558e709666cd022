/** The command line is invalid; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help the message refers to. */
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** Recognises errors from another bundle too, which has its own copy of the class. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError'
}
