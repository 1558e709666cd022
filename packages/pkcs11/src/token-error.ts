/** Something about a token, its library or the configuration that a person can put right. */
export class TokenError extends Error {
  /** One imperative sentence: what to do now. */
  readonly hint: string
  /** The number of the Cryptoki error behind it, where there is one. */
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
