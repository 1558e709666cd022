/** Something was typed that cannot be meant; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help explains it. */
  readonly command: string | undefined

  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** Recognises errors of another bundle, which has a class of its own. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError'
}
