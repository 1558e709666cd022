/** The credential in use. */
export interface HeldCredential<C> {
  readonly credential: C
  /** Ticket of the run that returned it. */
  readonly ticket: number
  readonly acquiredAt: number
  /** Milliseconds since the epoch; `Infinity` if it does not expire. */
  readonly expiresAt: number
  /** When to fetch a new one while this one is still in use. */
  readonly refreshAt: number
  /** Whether it was requested since it was acquired. An unused credential is not refreshed. */
  readonly isUsed: boolean
  /** Whether the server refused it and no replacement is available yet. */
  readonly isRefused: boolean
}

/**
 * Why a run started. `first`: there is no credential yet. `expired`: it has expired. `ahead`: it will expire soon and is
 * still in use. `refused`: a server refused it.
 */
export type Reason = 'first' | 'expired' | 'ahead' | 'refused'

/** The one run in flight. */
interface Attempt {
  readonly ticket: number
  readonly reason: Reason
  /** Whether the source changed since the run began, so that its result may be outdated. */
  readonly isOutdated?: boolean
}

/**
 * The state of one credential, as plain data.
 *
 * `held` and `attempt` are independent: the old one is used while a run fetches the new one.
 */
export interface State<C> {
  readonly isClosed: boolean
  /** Tickets are unique and only grow. */
  readonly lastTicket: number
  readonly held: HeldCredential<C> | undefined
  readonly attempt: Attempt | undefined
  /** Consecutive failed runs. */
  readonly failures: number
  /** No run starts before this time. */
  readonly pausedUntil: number
  /** The same, for runs ahead of the expiry only. */
  readonly aheadPausedUntil: number
  readonly lastError: unknown
  /** Consecutive runs that started because the server refused the credential. */
  readonly refusals: number
  readonly refusalsPausedUntil: number
  /** Consecutive credentials that arrived already expired. */
  readonly stale: number
}

/** What can happen to a credential. */
export type Event<C> =
  /** A caller needs the credential now. */
  | { readonly type: 'requested' }
  /** A run returned a credential. */
  | {
      readonly type: 'acquired'
      readonly ticket: number
      readonly credential: C
      readonly expiresAt: number
      readonly certificate?: { readonly notBefore: number; readonly notAfter: number } | undefined
      /** Whether it is the credential already in use. */
      readonly isSame: boolean
      readonly tookMs: number
      readonly jitter: number
    }
  | {
      readonly type: 'failed'
      readonly ticket: number
      readonly error: unknown
      readonly jitter: number
    }
  /** The server refused (401) the credential with this ticket. */
  | { readonly type: 'rejected'; readonly ticket: number }
  /** The server accepted the credential with this ticket. */
  | { readonly type: 'accepted'; readonly ticket: number }
  /** The source has something newer, such as a file that was written. */
  | { readonly type: 'changed' }
  /** The user wants a new credential now, regardless of pauses. */
  | { readonly type: 'renew' }
  /** The user wants the credential dropped; the next request fetches a new one. */
  | { readonly type: 'forget' }
  /** The timer of an earlier `wake` effect fired. */
  | { readonly type: 'timer-fired' }
  | { readonly type: 'closed' }

/** What the driver must do next. The state machine itself has no side effects. */
export type Effect =
  | { readonly do: 'acquire'; readonly ticket: number; readonly reason: Reason }
  /** The credential is no longer handed out; connections built from it close when their requests are done. */
  | { readonly do: 'retire'; readonly ticket: number }
  | { readonly do: 'abort'; readonly ticket: number }
  | { readonly do: 'set-timer'; readonly at: number }
  /** A credential arrived already expired. */
  | { readonly do: 'warn-stale'; readonly expiresAt: number }

/** The next state, and the effects to perform. */
export type Step<C> = readonly [State<C>, ...Effect[]]

/** Returns the state before the first request. */
export function emptyState<C>(): State<C> {
  return {
    isClosed: false,
    lastTicket: 0,
    held: undefined,
    attempt: undefined,
    failures: 0,
    pausedUntil: Number.NEGATIVE_INFINITY,
    aheadPausedUntil: Number.NEGATIVE_INFINITY,
    lastError: undefined,
    refusals: 0,
    refusalsPausedUntil: Number.NEGATIVE_INFINITY,
    stale: 0,
  }
}
