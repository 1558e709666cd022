import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'
import { isCredentialError } from './credential-error.ts'

/** An error that nothing here throws on purpose, as text that may be shown: secrets are taken out. */
export interface UnexpectedError {
  /** Eight hexadecimal digits. The same error at the same place has the same id. */
  readonly id: string
  /** Its name and message, on one line. */
  readonly message: string
  /** Name, message, stack and causes. */
  readonly stack: string
}

/** More of an error is not even read. */
const MAX_READ = 100_000
const MAX_STACK = 8_000
const MAX_MESSAGE = 500
const MAX_CAUSES = 5

/**
 * Makes text that may be shown of an error that nothing here throws on purpose.
 *
 * The id is computed from the text. So an answer, an event and a line on standard error that are about the same
 * error have the same id, also where only the first of many is written.
 *
 * @param secrets Known ones. What looks like a secret is taken out too.
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

/** Whether it is a mistake in a program, and no failure of a network or a system: those have codes. */
export function isProgramError(error: unknown): error is Error {
  const isMistake =
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  return isMistake && !isCredentialError(error) && !('code' in error)
}

function readMessage(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : describeValue(error)
  } catch {
    return UNREADABLE
  }
}

/** The stack with those of its causes, as Node prints them. */
function readStack(error: unknown): string {
  try {
    const texts: string[] = []
    let each = error
    while (each instanceof Error && texts.length <= MAX_CAUSES) {
      texts.push(withMessage(each))
      each = each.cause
    }
    if (texts.length === 0) return describeValue(error)
    return texts.join('\ncaused by: ')
  } catch {
    return UNREADABLE
  }
}

/** A message that was changed after the error was made is not in its stack. */
function withMessage({ name, message, stack = '' }: Error): string {
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`
}

/** Of other values only text is shown: nothing is known about what they hold. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return `${JSON.stringify(value)} was thrown`
  return value === null ? 'null was thrown' : `a value of type ${typeof value} was thrown`
}

const UNREADABLE = 'an error that cannot be read'

/** FNV-1a with 32 bits: enough to tell errors apart, and not meant to keep anything secret. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
