import { type AnyCredentialError, isCredentialError } from '../errors/index.ts'
import type { State } from '../lifecycle/state.ts'
import type { SourceLabel } from '../ports/observer.ts'

/** The state of a credential, as plain data without secrets. Times are milliseconds since the epoch. */
export interface KeeperStatus {
  readonly source: SourceLabel
  readonly state: 'empty' | 'ready' | 'running' | 'refused' | 'failed' | 'closed'
  /** How many runs were started. */
  readonly runs: number
  /** How long the last run took. */
  readonly lastRunMs?: number
  readonly acquiredAt?: number
  /** Absent if the credential has no known expiry. */
  readonly expiresAt?: number
  readonly lastError?: {
    readonly code: string
    readonly message: string
    readonly hint: string
    /** The plugin needs a login: the command that it names, to show and not to run. */
    readonly loginCommand?: string
  }
  /** When the next run may start, during a back-off. */
  readonly nextTryAt?: number
}

interface Facts {
  readonly source: SourceLabel
  readonly runs: number
  readonly lastRunMs: number | undefined
  readonly now: number
}

/** Describes a keeper's state as its status. */
export function describeState<C>(
  state: State<C>,
  { source, runs, lastRunMs, now }: Facts,
): KeeperStatus {
  const { held, lastError, pausedUntil, refusalsPausedUntil } = state
  const nextTryAt = held?.isRefused ? Math.max(pausedUntil, refusalsPausedUntil) : pausedUntil
  return {
    source,
    state: nameState(state, now),
    runs,
    ...(lastRunMs !== undefined && { lastRunMs }),
    ...(held && { acquiredAt: held.acquiredAt }),
    ...(held && Number.isFinite(held.expiresAt) && { expiresAt: held.expiresAt }),
    ...(isCredentialError(lastError) && { lastError: describeError(lastError) }),
    ...(nextTryAt > now && { nextTryAt }),
  }
}

function describeError(error: AnyCredentialError): NonNullable<KeeperStatus['lastError']> {
  const { code, message, hint } = error
  const login = 'loginCommand' in error && error.loginCommand
  return { code, message, hint, ...(login && { loginCommand: login }) }
}

function nameState<C>(
  { isClosed, held, attempt, lastError }: State<C>,
  now: number,
): KeeperStatus['state'] {
  if (isClosed) return 'closed'
  if (held !== undefined && now < held.expiresAt) return held.isRefused ? 'refused' : 'ready'
  if (attempt !== undefined) return 'running'
  return lastError === undefined ? 'empty' : 'failed'
}
