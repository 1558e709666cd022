import { CODES, type Code } from './codes.ts'

const BRAND: unique symbol = Symbol.for('kubecred.CredentialError')

export interface ErrorInit {
  /** One imperative sentence: what the person at the keyboard can do now. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/**
 * Base of every error this library throws on purpose.
 *
 * `message` says what happened, `hint` what to do about it, `code` what a program may switch on.
 * None of the three ever carries a token, a key, a PIN or the standard output of a plugin.
 */
export abstract class CredentialError<C extends Code = Code> extends Error {
  abstract readonly code: C
  readonly #hint: string | undefined
  /** When the next try will be made, in milliseconds since the epoch; set while a back-off runs. */
  nextTryAt?: number

  constructor(message: string, { hint, cause }: ErrorInit = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.#hint = hint
  }

  /** One imperative sentence: what the person at the keyboard can do now. */
  get hint(): string {
    return this.#hint ?? CODES[this.code].remedy
  }

  /** Whether the same call may succeed later with nothing changed by hand. */
  get retryable(): boolean {
    return CODES[this.code].retryable
  }

  /** Recognises instances made by another copy of this package, where `instanceof` cannot. */
  get [BRAND](): true {
    return true
  }
}

/** Tells our errors from others, also when another copy of this package made them. */
export function isCredentialError(value: unknown): value is CredentialError {
  return typeof value === 'object' && value !== null && BRAND in value
}
