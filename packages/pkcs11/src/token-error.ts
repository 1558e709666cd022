/** A problem with a token, its library or the configuration that the user can fix. */
export class TokenError extends Error {
  /** One imperative sentence: what to do now. */
  readonly hint: string
  /** The CKR number of the Cryptoki error that caused it, if one did. */
  readonly ckr: number | undefined

  constructor(
    message: string,
    { hint, cause, ckr }: { hint: string; cause?: unknown; ckr?: number },
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TokenError'
    this.hint = hint
    this.ckr = ckr
  }
}
