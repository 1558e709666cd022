import type { ConnectionFields } from './connection-fields.ts'
import type { ConnectionInfo } from './connection-info.ts'

/** Why a handler is called. */
export type LoginReason =
  | 'first'
  /** The credential it returned last has expired. */
  | 'expired'
  /** The credential it returned last expires soon, or a file it came from has changed. */
  | 'ahead'
  /** The server refused the credential it returned last. */
  | 'refused'
  /** No handler has a usable credential left. */
  | 'depleted'

/** The refusal of a handler's last credential, without the credential. */
export interface RefusedLogin {
  readonly server: string
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Writes log lines, which become `log` events. Do not pass secrets. */
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
  /** The refusal of the credential that this handler returned last, if `reason` is `refused`. */
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

/**
 * Returns where to connect and with which credential, or undefined if it does not apply.
 *
 * @example
 * const login: LoginHandler = async ({ signal }) => ({
 *   server: 'https://10.0.0.1:6443',
 *   token: await fetchToken({ signal }),
 * })
 */
export type LoginHandler = (context: LoginContext) => Returned | Promise<Returned>

/** Options of `vault.onLogin()`. */
export interface LoginOptions {
  /** The handler's name in messages; by default the function's name. */
  readonly id?: string
  /** Attempts for one login, including the first; no limit by default. */
  readonly attempts?: number
  /** Time limit for one login with all its attempts; no limit by default. A running attempt is aborted by it. */
  readonly timeoutMs?: number
  /** First pause after an error that is neither temporary nor permanent: 1 s, doubling up to 1 min. */
  readonly backoffMs?: number
  /** How such an error counts: `temporary` (default) tries again, `permanent` gives up, `ignored` means not applicable. */
  readonly errors?: 'temporary' | 'permanent' | 'ignored'
}

const DEFAULT_DELAY_MS = 10_000

/**
 * Thrown by a login handler that wants to be called again after a pause.
 *
 * @example
 * if (response.status === 503) throw new TemporaryError('the issuer is busy', { delayMs: 5000 })
 */
export class TemporaryError extends Error {
  /** The pause: 10 s by default. */
  readonly delayMs: number

  constructor(
    message: string,
    { delayMs = DEFAULT_DELAY_MS, cause }: { delayMs?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TemporaryError'
    // NaN or Infinity cannot be waited for.
    this.delayMs = Number.isFinite(delayMs) ? delayMs : DEFAULT_DELAY_MS
  }
}

/**
 * Thrown by a login handler to give up this login. Other handlers continue.
 *
 * @example
 * if (response.status === 403) throw new PermanentError('the account is disabled')
 */
export class PermanentError extends Error {
  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'PermanentError'
  }
}
