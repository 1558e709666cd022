/** The command line is invalid; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help the message refers to. */
  readonly command: string | undefined
  /** What may be a typing mistake. The suggestion is made when the error is shown: most commands need no such code. */
  readonly mistyped: Mistyped | undefined

  constructor(message: string, command?: string, mistyped?: Mistyped) {
    super(message)
    this.command = command
    this.mistyped = mistyped
  }
}

/** A word that is not one of the names that are valid in its place. */
export interface Mistyped {
  readonly typed: string
  readonly names: readonly string[]
}

/** Recognises errors from another bundle too, which has its own copy of the class. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError'
}
