import { isCredentialError } from '../errors/index.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'
import { TimeUp } from './limited.ts'
import { PermanentError, TemporaryError } from './login-handler.ts'

const LONGEST_REASON = 300
/** More than this is not even looked at. */
const LONGEST_TEXT = 100_000
const DEEPEST_CAUSE = 5

/** In words, whatever a handler threw; known secrets and what looks like one are taken out. */
export function describeThrown(
  error: unknown,
  timeoutMs: number,
  secrets: readonly Secret[] = [],
): string {
  if (error instanceof TimeUp) return `it took longer than ${timeoutMs} ms`
  try {
    const hint = isCredentialError(error) ? ` (${error.hint})` : ''
    return clean(textOf(error) + hint, secrets).slice(0, LONGEST_REASON)
  } catch {
    return 'it threw something that cannot be read'
  }
}

/** Text of somebody else's, fit to be shown. */
export function clean(text: string, secrets: readonly Secret[]): string {
  return scrub(showControlCharacters(text.slice(0, LONGEST_TEXT)), secrets)
}

/**
 * What a handler threw, fit to hang on an error that people print.
 *
 * The error itself where there is nothing to hide in it. Clients like to attach the whole request to
 * theirs, with its headers: of those a copy is made, with what was said and where.
 */
export function printableCause(error: unknown, secrets: readonly Secret[]): unknown {
  try {
    if (isHarmless(error, secrets)) return error
    if (!(error instanceof Error)) {
      return typeof error === 'string' ? clean(error, secrets) : undefined
    }
    const copy = new Error(clean(error.message, secrets))
    copy.name = clean(error.name, secrets)
    copy.stack = clean(String(error.stack), secrets)
    return copy
  } catch {
    return undefined
  }
}

function textOf(error: unknown): string {
  if (error instanceof Error) return String(error.message || error.name)
  if (typeof error === 'string') return error
  const isNothing = error === null || error === undefined
  return `it threw ${isNothing ? String(error) : `a ${typeof error}`}`
}

function isHarmless(value: unknown, secrets: readonly Secret[], depth = 0): boolean {
  if (typeof value === 'string') return clean(value, secrets) === value
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (isCredentialError(value)) return true
  if (!(value instanceof Error) || value instanceof AggregateError || depth > DEEPEST_CAUSE) {
    return false
  }
  // A class of somebody else's may print what we do not see, and so may a symbol.
  const isPlain = PLAIN.some((each) => Object.getPrototypeOf(value) === each.prototype)
  if (!isPlain || Reflect.ownKeys(value).some((key) => !KNOWN.has(key))) return false
  const { message, stack = '', cause } = value
  return [message, stack, cause, ...Object.values(value)].every((each) =>
    isHarmless(each, secrets, depth + 1),
  )
}

const PLAIN = [Error, TypeError, RangeError, SyntaxError, TemporaryError, PermanentError]
/** What errors of the system and of ours have. */
const KNOWN: ReadonlySet<string | symbol> = new Set([
  'name',
  'message',
  'stack',
  'cause',
  'code',
  'errno',
  'syscall',
  'path',
  'address',
  'port',
  'hostname',
  'delayMs',
])
