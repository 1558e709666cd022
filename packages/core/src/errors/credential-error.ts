import type { Code } from './codes.ts'
import type { AnyCredentialError } from './index.ts'

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
  /** What the table of codes says about this one. */
  protected abstract readonly facts: CodeFacts
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
    return this.#hint ?? this.facts.remedy
  }

  /** Whether the same call may succeed later with nothing changed by hand. */
  get retryable(): boolean {
    return this.facts.retryable
  }

  /** Recognises instances made by another copy of this package, where `instanceof` cannot. */
  get [BRAND](): true {
    return true
  }
}

/** Tells our errors from others, also when another copy of this package made them. */
export function isCredentialError(value: unknown): value is AnyCredentialError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** Whose fault an error is: it decides who has to act. */
export type Fault = 'kubeconfig' | 'plugin' | 'policy' | 'server' | 'network' | 'caller' | 'system'

export interface CodeFacts {
  /** Exit status of the program, 10 to 99. */
  readonly exit: number
  readonly fault: Fault
  /** Whether the same call may succeed later with nothing changed by hand. */
  readonly retryable: boolean
  /** What the code means, in one sentence. */
  readonly means: string
  /** What to do about it in general; an error's own `hint` is more exact. */
  readonly remedy: string
}

export function facts(
  exit: number,
  fault: Fault,
  again: 'retryable' | 'final',
  means: string,
  remedy: string,
): CodeFacts {
  return { exit, fault, retryable: again === 'retryable', means, remedy }
}
