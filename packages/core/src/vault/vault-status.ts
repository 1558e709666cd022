import { CODES } from '../errors/index.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { KeeperStatus } from '../keeper/status.ts'
import type { CredentialPart } from '../ports/observer.ts'
import type { LoginRecord } from './login-history.ts'

/** The status of one login handler, as plain data without secrets. Times are milliseconds since the epoch. */
export interface LoginStatus extends KeeperStatus {
  /** The handler's id. */
  readonly handler: string
  /** Attempts of the running login, else of the last one. */
  readonly attempts: number
  /** How many times a server refused its credential. */
  readonly refusals: number
  /** Until when its credential is not used because a server refused it. */
  readonly excludedUntil?: number
  /** When it last logged in, and how long that took. */
  readonly lastLoginAt?: number
  readonly lastLoginMs?: number
  /** The server and priority of that login. */
  readonly server?: string
  readonly priority?: number
  /** The parts of its credential. */
  readonly parts?: readonly CredentialPart[]
  /** The user that requests with it impersonate. */
  readonly as?: string
}

/** The status of a vault, as plain data without secrets. Times are milliseconds since the epoch. */
export interface VaultStatus extends KeeperStatus {
  /** Requests that wait for a login. */
  readonly waiting: number
  /** Since when requests wait; absent while they do not. */
  readonly frozenSince?: number
  /** The status of each handler. */
  readonly logins: readonly LoginStatus[]
}

/** What a vault knows about a handler besides its keeper. */
export interface HandlerFacts {
  readonly record: LoginRecord
  /** Undefined if its credential is not excluded. */
  readonly excludedUntil: number | undefined
}

/** Describes a handler's status. */
export function describeLogin(
  keeper: Pick<Keeper, 'label' | 'status'>,
  { record, excludedUntil }: HandlerFacts,
): LoginStatus {
  const status = keeper.status()
  const { attempts, refusals, last, retry } = record
  return {
    ...status,
    // The keeper is ready, but the same credential of another handler may have been refused.
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
      parts: last.parts,
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
