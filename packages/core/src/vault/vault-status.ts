import { CODES } from '../errors/index.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { KeeperStatus } from '../keeper/status.ts'
import type { CredentialPart } from '../ports/observer.ts'
import type { LoginNotes } from './login-history.ts'

/** How one login handler is doing, as plain data without secrets. Times are milliseconds since the epoch. */
export interface LoginStatus extends KeeperStatus {
  /** Its id. */
  readonly handler: string
  /** Attempts of the login that runs, or else of the last one. */
  readonly attempts: number
  /** Times a server refused what it gave. */
  readonly refusals: number
  /** Until when what it gave is left alone because a server refused it. */
  readonly excludedUntil?: number
  /** When its last login went well, and how long that took. */
  readonly lastLoginAt?: number
  readonly lastLoginMs?: number
  /** Where that login leads, and how much it is preferred. */
  readonly server?: string
  readonly priority?: number
  /** What it is made of. */
  readonly holds?: readonly CredentialPart[]
  /** Whom requests with it act as. */
  readonly as?: string
}

/** How a vault is doing, as plain data without secrets. Times are milliseconds since the epoch. */
export interface VaultStatus extends KeeperStatus {
  /** Requests that wait for a login. */
  readonly waiting: number
  /** Since when requests have had to wait; absent when they need not. */
  readonly frozenSince?: number
  /** Every handler by itself. */
  readonly logins: readonly LoginStatus[]
}

/** What a vault knows of a handler besides its keeper. */
export interface HandlerFacts {
  readonly notes: LoginNotes
  /** Undefined when what it gave is not left alone now. */
  readonly excludedUntil: number | undefined
}

export function describeLogin(
  keeper: Pick<Keeper, 'label' | 'status'>,
  { notes, excludedUntil }: HandlerFacts,
): LoginStatus {
  const status = keeper.status()
  const { attempts, refusals, last, retry } = notes
  return {
    ...status,
    // Another handler may have given the same, and have been refused.
    ...(excludedUntil !== undefined && status.state === 'ready' && { state: 'refused' }),
    handler: keeper.label.name,
    attempts,
    refusals,
    ...(excludedUntil !== undefined && { excludedUntil }),
    ...(last && {
      lastLoginAt: last.at,
      lastLoginMs: last.tookMs,
      server: last.server,
      priority: last.priority,
      holds: last.holds,
      ...(last.as !== undefined && { as: last.as }),
    }),
    ...(retry && {
      nextTryAt: retry.nextTryAt,
      lastError: {
        code: 'ERR_LOGIN_FAILED',
        message: retry.reason,
        hint: CODES.ERR_LOGIN_FAILED.remedy,
      },
    }),
  }
}
