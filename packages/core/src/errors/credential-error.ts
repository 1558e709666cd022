import type { Code } from './codes.ts'
import type { AnyCredentialError } from './index.ts'

const BRAND: unique symbol = Symbol.for('kubecred.CredentialError')

export interface ErrorInit {
  /** What the user can do now, as one imperative sentence; the remedy of the code by default. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/**
 * Base class of every error that this library throws on purpose.
 *
 * `message` says what happened, `hint` what to do about it, and programs switch on `code`. None of the three ever
 * contains a token, a key, a PIN or the standard output of a plugin.
 *
 * `code`, `hint` and `nextTryAt` are own properties, so that `console.error(error)`, a crash and `JSON.stringify(error)`
 * show them. A property without a value is absent, not `undefined`.
 *
 * @example
 * try {
 *   await cluster.fetch('/api/v1/pods')
 * } catch (error) {
 *   if (error instanceof CredentialError) console.error(`${error.message}\n${error.hint}`)
 *   else throw error
 * }
 */
export abstract class CredentialError<C extends Code = Code> extends Error {
  readonly code: C
  /** What the user can do now, as one imperative sentence. */
  readonly hint: string
  /** When the next attempt will be made, in milliseconds since the epoch; set while a back-off is running. */
  declare nextTryAt?: number

  constructor(message: string, { hint, cause }: ErrorInit = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    // Every concrete class has a static `code`: a field of the class would be set too late for the hint.
    this.code = (new.target as unknown as { readonly code: C }).code
    this.hint = hint ?? this.codeFacts().remedy
  }

  /** Returns the row of this code in the table of its family. */
  protected abstract codeFacts(): CodeFacts

  /**
   * `message` without the standard error of the program that failed.
   *
   * For output that shows `stderrTail` separately.
   */
  get summary(): string {
    return this.message
  }

  /** Whether the same call may succeed later without any change by the user. */
  get retryable(): boolean {
    return this.codeFacts().retryable
  }

  /** Recognizes instances made by another copy of this package, where `instanceof` cannot. */
  get [BRAND](): true {
    return true
  }

  /** Returns the name, the message and the own properties; not `cause` and `stack`. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { name: this.name, message: this.message, ...(this as object) }
  }
}

/**
 * Returns whether a value is an error of this library, also if another copy of the package created it.
 *
 * @example
 * const reason = isCredentialError(error) ? error.code : 'unknown'
 */
export function isCredentialError(value: unknown): value is AnyCredentialError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** Where the fault lies, and therefore who has to act. */
export type Fault = 'kubeconfig' | 'plugin' | 'policy' | 'server' | 'network' | 'caller' | 'system'

/** What is known about an error code. */
export interface CodeFacts {
  /** Exit status of the program, 10 to 99. */
  readonly exit: number
  readonly fault: Fault
  /** Whether the same call may succeed later without any change by the user. */
  readonly retryable: boolean
  /** What the code means, in one sentence. */
  readonly meaning: string
  /** What to do about it in general; the `hint` of an error is more specific. */
  readonly remedy: string
}

/** Returns one row of a table of codes. */
export function facts(
  exit: number,
  fault: Fault,
  retry: 'retryable' | 'final',
  meaning: string,
  remedy: string,
): CodeFacts {
  return { exit, fault, retryable: retry === 'retryable', meaning, remedy }
}
