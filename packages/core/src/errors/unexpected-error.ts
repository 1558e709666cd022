import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'
import { isCredentialError } from './credential-error.ts'

/** An error that this library does not throw on purpose, as text without secrets. */
export interface UnexpectedError {
  /** Eight hexadecimal digits, equal for the same error at the same place. */
  readonly id: string
  /** Name and message, on one line. */
  readonly message: string
  /** Name, message and stack, followed by those of its causes. */
  readonly stack: string
}

/** How much of the text of an error is read at all. */
const MAX_READ = 100_000
const MAX_STACK = 8_000
const MAX_MESSAGE = 500
const MAX_CAUSES = 5

/**
 * Describes an error that this library does not throw on purpose, with all secrets removed.
 *
 * The id is computed from the text, so that a response, an event and a log line about the same error have the same id.
 *
 * @param secrets Known secrets. What looks like a secret is removed too.
 *
 * @example
 * const { id, message } = describeUnexpected(error)
 * console.error(`internal error ${id}: ${message}`)
 */
export function describeUnexpected(
  error: unknown,
  secrets: Iterable<Secret> = [],
): UnexpectedError {
  const known = [...secrets]
  const clean = (text: string): string => scrub(showControlCharacters(text), known)
  const stack = clean(readStack(error).slice(0, MAX_READ)).slice(0, MAX_STACK)
  const message = clean(readMessage(error).slice(0, MAX_READ))
  return {
    id: fingerprint(stack),
    message: message.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE),
    stack,
  }
}

/** Returns whether an error is a bug in a program. Failures of the network or the system have a `code`. */
export function isProgramError(error: unknown): error is Error {
  const isBug =
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  return isBug && !isCredentialError(error) && !('code' in error)
}

function readMessage(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : describeValue(error)
  } catch {
    return UNREADABLE
  }
}

/** Returns the stack followed by the stacks of the causes, as Node prints them. */
function readStack(error: unknown): string {
  try {
    const texts: string[] = []
    let current = error
    while (current instanceof Error && texts.length <= MAX_CAUSES) {
      texts.push(stackWithMessage(current))
      current = current.cause
    }
    if (texts.length === 0) return describeValue(error)
    return texts.join('\ncaused by: ')
  } catch {
    return UNREADABLE
  }
}

/** The stack does not contain a message that was changed later. */
function stackWithMessage({ name, message, stack = '' }: Error): string {
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`
}

/** Shows strings only: other values may contain anything. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return `${JSON.stringify(value)} was thrown`
  return value === null ? 'null was thrown' : `a value of type ${typeof value} was thrown`
}

const UNREADABLE = 'an unreadable error'

/** FNV-1a with 32 bits: enough to distinguish errors; it protects no secret. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
