import type { ConnectionFields } from './connection-fields.ts'
import type { ConnectionInfo } from './connection-info.ts'

/** Why a handler is asked to log in. */
export type LoginReason =
  | 'first'
  /** What it returned last has expired. */
  | 'expired'
  /** What it returned last will expire soon, or a file it came from was written. */
  | 'ahead'
  /** The server refused what it returned last. */
  | 'refused'
  /** No handler has anything left that the server takes. */
  | 'depleted'

/** What the server said no to; never the secret itself. */
export interface RefusedLogin {
  readonly server: string
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Writes for people. What it is given must not hold secrets. */
export interface LoginLogger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** What a handler receives. */
export interface LoginContext {
  readonly id: string
  readonly reason: LoginReason
  /** The last refusal of what this handler returned, if that is why it is asked. */
  readonly refused?: RefusedLogin
  /** Counted from 1, for this login. */
  readonly attempt: number
  /** Since the first attempt of this login. */
  readonly elapsedMs: number
  /** Aborted when the time limit passes or the vault is closed. */
  readonly signal: AbortSignal
  readonly logger: LoginLogger
}

type Returned = ConnectionInfo | ConnectionFields | undefined | null

/** Logs in. Returns undefined if it does not apply. */
export type LoginHandler = (context: LoginContext) => Returned | Promise<Returned>

export interface LoginOptions {
  /** What it is called in messages; by default the function's own name. */
  readonly id?: string
  /** Attempts in all for one login: no limit. */
  readonly attempts?: number
  /** For the whole login with all its attempts: no limit. A running attempt is ended by it. */
  readonly timeoutMs?: number
  /** Pause after an error that is neither temporary nor permanent: 1 s, doubling to a minute. */
  readonly backoffMs?: number
  /** What such an error means: `temporary` tries again, `permanent` gives up, `ignored` counts as returning nothing. */
  readonly errors?: 'temporary' | 'permanent' | 'ignored'
}

const DEFAULT_DELAY_MS = 10_000

/** Throw it to be asked again after a pause. */
export class TemporaryError extends Error {
  /** Milliseconds. */
  readonly delayMs: number

  constructor(
    message: string,
    { delayMs = DEFAULT_DELAY_MS, cause }: { delayMs?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TemporaryError'
    // A pause that is none would be a loop.
    this.delayMs = Number.isFinite(delayMs) ? delayMs : DEFAULT_DELAY_MS
  }
}

/** Throw it to give up this login; the other handlers go on. */
export class PermanentError extends Error {
  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'PermanentError'
  }
}
