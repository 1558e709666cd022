import {
  ConnectionInfoError,
  isCredentialError,
  LoginError,
  type LoginOutcome,
} from '../errors/index.ts'
import { backOff } from '../lifecycle/back-off.ts'
import type { Clock } from '../ports/clock.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'
import { ConnectionInfo } from './connection-info.ts'
import {
  type LoginContext,
  type LoginHandler,
  type LoginOptions,
  PermanentError,
  TemporaryError,
} from './login-handler.ts'

/** A login handler as registered with a vault. */
export interface RegisteredHandler {
  readonly id: string
  readonly handler: LoginHandler
  readonly options: Omit<LoginOptions, 'id'>
}

/** What stays the same over the attempts of one login. */
export interface LoginRequest extends Pick<LoginContext, 'reason' | 'refused' | 'logger'> {
  /** Ends with the vault. */
  readonly signal: AbortSignal
  /** The secrets this handler returned before: they are removed from its errors and log lines. */
  readonly secrets?: readonly Secret[]
  /** Called after an attempt that will be followed by another. */
  readonly onRetry: (outcome: LoginOutcome, nextTryAt: number) => void
  /** Called with the reason of an error that `errors: 'ignored'` treats as returning nothing. */
  readonly onIgnored?: (reason: string) => void
}

const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/**
 * Logs in with one handler, with as many attempts as needed within its limits.
 *
 * @returns Undefined if the handler does not apply.
 * @throws {LoginError} `ERR_LOGIN_FAILED` with the reason, if no attempt succeeded.
 */
export async function logIn(
  registered: RegisteredHandler,
  ask: LoginRequest,
  clock: Clock,
): Promise<ConnectionInfo | undefined> {
  const { id, options } = registered
  const { attempts = Number.POSITIVE_INFINITY, timeoutMs = Number.POSITIVE_INFINITY } = options
  const startedAt = clock.now()
  const elapsed = (): number => Math.max(0, clock.now() - startedAt)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOnce(registered, ask, { attempt, elapsedMs: elapsed(), timeoutMs, clock })
    } catch (error) {
      ask.signal.throwIfAborted()
      const next = decideNext(error, attempt, options)
      const reason = describeThrown(error, timeoutMs, ask.secrets)
      if (next.do === 'ignore') {
        ask.onIgnored?.(reason)
        return undefined
      }
      const outcome = { handler: id, attempts: attempt, reason }
      const isLast = next.do === 'stop' || attempt >= attempts
      if (isLast || elapsed() + next.pauseMs >= timeoutMs) {
        throw new LoginError([{ ...outcome, result: 'failed' }], 'the login failed', {
          cause: printableCause(error, ask.secrets ?? []),
        })
      }
      ask.onRetry({ ...outcome, result: 'running' }, clock.now() + next.pauseMs)
      await pause(next.pauseMs, ask.signal, clock)
    }
  }
}

interface Attempt {
  readonly attempt: number
  readonly elapsedMs: number
  readonly timeoutMs: number
  readonly clock: Clock
}

async function tryOnce(
  { id, handler }: RegisteredHandler,
  { reason, refused, logger, signal }: LoginRequest,
  { attempt, elapsedMs, timeoutMs, clock }: Attempt,
): Promise<ConnectionInfo | undefined> {
  const context = { id, attempt, elapsedMs, reason, logger, ...(refused && { refused }) }
  const returned = await runLimited((own) => handler({ ...context, signal: own }), {
    limitMs: timeoutMs - elapsedMs,
    signal,
    clock,
  })
  return returned === undefined || returned === null ? undefined : ConnectionInfo.from(returned)
}

type Next =
  | { readonly do: 'retry'; readonly pauseMs: number }
  | { readonly do: 'stop'; readonly pauseMs: 0 }
  | { readonly do: 'ignore'; readonly pauseMs: 0 }

function decideNext(error: unknown, attempt: number, options: LoginOptions): Next {
  const { errors = 'temporary', backoffMs = FIRST_PAUSE_MS } = options
  // At least 1 ms: a handler that fails synchronously would otherwise block the event loop.
  if (error instanceof TemporaryError) return { do: 'retry', pauseMs: Math.max(1, error.delayMs) }
  const isFinal =
    error instanceof PermanentError ||
    error instanceof ConnectionInfoError ||
    error instanceof TimeLimitError
  if (isFinal || errors === 'permanent') return { do: 'stop', pauseMs: 0 }
  if (errors === 'ignored') return { do: 'ignore', pauseMs: 0 }
  const limits = { backoffFirstMs: backoffMs, backoffLimitMs: Math.max(MAX_PAUSE_MS, backoffMs) }
  return { do: 'retry', pauseMs: Math.max(1, backOff(attempt, limits)) }
}

/** A time limit passed. */
export class TimeLimitError extends Error {}

/**
 * Runs `work` with a time limit and a signal. Its result is dropped if either ends it first.
 *
 * @throws {TimeLimitError} If the limit passed; else the signal's reason or what `work` throws.
 */
export async function runLimited<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { limitMs, signal, clock }: { limitMs: number; signal: AbortSignal; clock: Clock },
): Promise<T> {
  signal.throwIfAborted()
  if (limitMs <= 0) throw new TimeLimitError()
  const own = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
  })
  stopped.catch(() => {})
  const onAbort = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = Number.isFinite(limitMs)
    ? clock.after(limitMs, () => own.abort(new TimeLimitError('the time limit passed')))
    : undefined
  try {
    return await Promise.race([(async () => work(own.signal))(), stopped])
  } finally {
    cancel?.()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits. Rejects with the signal's reason if aborted. */
export function pause(milliseconds: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(milliseconds, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

const MAX_REASON = 300
/** Longer text is cut before it is scrubbed. */
const MAX_TEXT = 100_000
const MAX_CAUSE_DEPTH = 5

/** Describes what a handler threw. Known secrets, and what looks like one, are removed. */
export function describeThrown(
  error: unknown,
  timeoutMs: number,
  secrets: readonly Secret[] = [],
): string {
  if (error instanceof TimeLimitError) return `it took longer than ${timeoutMs} ms`
  try {
    const hint = isCredentialError(error) ? ` (${error.hint})` : ''
    return clean(textOf(error) + hint, secrets).slice(0, MAX_REASON)
  } catch {
    return 'it threw something that cannot be read'
  }
}

/** Removes secrets and control characters from a handler's text, so that it can be shown. */
export function clean(text: string, secrets: readonly Secret[]): string {
  return scrub(showControlCharacters(text.slice(0, MAX_TEXT)), secrets)
}

/**
 * Makes what a handler threw safe as the `cause` of an error that may be printed.
 *
 * Returns the error itself if it holds nothing secret. HTTP clients often attach the whole request with its headers;
 * such an error is replaced by a copy with only its scrubbed name, message and stack.
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
  if (!(value instanceof Error) || value instanceof AggregateError || depth > MAX_CAUSE_DEPTH) {
    return false
  }
  // A class of another package, or a symbol property, may print what this check does not see.
  const isPlain = PLAIN.some((each) => Object.getPrototypeOf(value) === each.prototype)
  if (!isPlain || Reflect.ownKeys(value).some((key) => !KNOWN.has(key))) return false
  const { message, stack = '', cause } = value
  return [message, stack, cause, ...Object.values(value)].every((each) =>
    isHarmless(each, secrets, depth + 1),
  )
}

const PLAIN = [Error, TypeError, RangeError, SyntaxError, TemporaryError, PermanentError]
/** Properties that system errors and our own errors have. */
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
