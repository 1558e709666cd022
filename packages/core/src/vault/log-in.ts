import { ConnectionInfoError, LoginError, type LoginOutcome } from '../errors/index.ts'
import { backOff } from '../lifecycle/back-off.ts'
import type { Clock } from '../ports/clock.ts'
import type { Secret } from '../secret/secret.ts'
import { ConnectionInfo } from './connection-info.ts'
import { describeThrown, printableCause } from './describe-thrown.ts'
import { pause, runLimited, TimeUp } from './limited.ts'
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
  /** Told after an attempt that will be followed by another. */
  readonly onRetry: (outcome: LoginOutcome, nextTryAt: number) => void
  /** Told of an error that counts as returning nothing. */
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
  const { retries = Number.POSITIVE_INFINITY, timeoutMs = Number.POSITIVE_INFINITY } = options
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
      const isLast = next.do === 'stop' || attempt >= retries
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
  const told = { id, attempt, elapsedMs, reason, logger, ...(refused && { refused }) }
  const returned = await runLimited((own) => handler({ ...told, signal: own }), {
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
