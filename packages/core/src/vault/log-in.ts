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

/** A handler and its options. */
export interface RegisteredHandler {
  readonly id: string
  readonly handler: LoginHandler
  readonly options: Omit<LoginOptions, 'id'>
}

/** What stays the same over the attempts of one login. */
export interface LoginAsk extends Pick<LoginContext, 'reason' | 'refused' | 'logger'> {
  /** Ends with the vault. */
  readonly signal: AbortSignal
  /** What this handler gave before: it must not show in what it says now. */
  readonly secrets?: readonly Secret[]
  /** Called after an attempt that will be followed by another. */
  readonly onRetry: (outcome: LoginOutcome, nextTryAt: number) => void
  /** Called with the reason of an error that counts as returning nothing. */
  readonly onIgnored?: (reason: string) => void
}

const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/**
 * Logs in with one handler: as many attempts as it takes, or as it may have.
 *
 * @returns Undefined when the handler has nothing to say.
 * @throws {LoginError} When it gave up, with the reason.
 */
export async function logIn(
  registered: RegisteredHandler,
  ask: LoginAsk,
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
      const next = whatNext(error, attempt, options)
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
  { reason, refused, logger, signal }: LoginAsk,
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

function whatNext(error: unknown, attempt: number, options: LoginOptions): Next {
  const { errors = 'temporary', backoffMs = FIRST_PAUSE_MS } = options
  // Never nothing: a handler that fails without waiting for anything would starve the whole program.
  if (error instanceof TemporaryError) return { do: 'retry', pauseMs: Math.max(1, error.delayMs) }
  const isFinal =
    error instanceof PermanentError ||
    error instanceof ConnectionInfoError ||
    error instanceof TimeUp
  if (isFinal || errors === 'permanent') return { do: 'stop', pauseMs: 0 }
  if (errors === 'ignored') return { do: 'ignore', pauseMs: 0 }
  const limits = { backoffFirstMs: backoffMs, backoffLimitMs: Math.max(MAX_PAUSE_MS, backoffMs) }
  return { do: 'retry', pauseMs: Math.max(1, backOff(attempt, limits)) }
}

/** The time limit of something passed. */
export class TimeUp extends Error {}

/**
 * Runs something until it ends, its time is up or the signal says so. What it does later is dropped.
 *
 * @throws {TimeUp} Or the signal's reason, or what the work throws.
 */
export async function runLimited<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { limitMs, signal, clock }: { limitMs: number; signal: AbortSignal; clock: Clock },
): Promise<T> {
  signal.throwIfAborted()
  if (limitMs <= 0) throw new TimeUp()
  const own = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
  })
  stopped.catch(() => {})
  const onAbort = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = Number.isFinite(limitMs)
    ? clock.after(limitMs, () => own.abort(new TimeUp('the time limit passed')))
    : undefined
  try {
    return await Promise.race([(async () => work(own.signal))(), stopped])
  } finally {
    cancel?.()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits. Rejects with the signal's reason. */
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
/** More than this is not even looked at. */
const MAX_TEXT = 100_000
const MAX_CAUSE_DEPTH = 5

/** In words, whatever a handler threw; known secrets and what looks like one are taken out. */
export function describeThrown(
  error: unknown,
  timeoutMs: number,
  secrets: readonly Secret[] = [],
): string {
  if (error instanceof TimeUp) return `it took longer than ${timeoutMs} ms`
  try {
    const hint = isCredentialError(error) ? ` (${error.hint})` : ''
    return clean(textOf(error) + hint, secrets).slice(0, MAX_REASON)
  } catch {
    return 'it threw something that cannot be read'
  }
}

/** Text of a handler, fit to be shown. */
export function clean(text: string, secrets: readonly Secret[]): string {
  return scrub(showControlCharacters(text.slice(0, MAX_TEXT)), secrets)
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
  if (!(value instanceof Error) || value instanceof AggregateError || depth > MAX_CAUSE_DEPTH) {
    return false
  }
  // A class of another package may print what we do not see, and so may a symbol.
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
