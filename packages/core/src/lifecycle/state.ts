/** A credential in hand. */
export interface HeldCredential<C> {
  readonly credential: C
  /** Ticket of the run that brought it. */
  readonly ticket: number
  readonly acquiredAt: number
  /** Milliseconds since the epoch; `Infinity` when it has no end. */
  readonly expiresAt: number
  /** From then on a new one is fetched while this one still serves. */
  readonly refreshAt: number
  /** Whether anybody asked for it since it came: nobody refreshes what nobody uses. */
  readonly isUsed: boolean
  /** Whether the server said no to it and nothing better was had. */
  readonly isRefused: boolean
}

/** Why a run was started. */
export type Reason = 'first' | 'expired' | 'ahead' | 'refused'

/** The one run in flight. */
interface Attempt {
  readonly ticket: number
  readonly reason: Reason
  /** Whether the source changed since the run began: its answer may be older than the change. */
  readonly isOutdated?: boolean
}

/** The life of one credential, as plain data. Held and attempt are independent: the old serves while the new comes. */
export interface State<C> {
  readonly isClosed: boolean
  /** Tickets are given once and only grow. */
  readonly lastTicket: number
  readonly held: HeldCredential<C> | undefined
  readonly attempt: Attempt | undefined
  /** Failed runs in a row. */
  readonly failures: number
  /** No run before this time. */
  readonly pausedUntil: number
  /** The same for runs ahead of time only. */
  readonly aheadPausedUntil: number
  readonly lastError: unknown
  /** Runs in a row that were started because the server refused the credential. */
  readonly refusals: number
  readonly refusalsPausedUntil: number
  /** Credentials in a row that arrived already expired. */
  readonly stale: number
}

export type Event<C> =
  /** Somebody needs the credential now. */
  | { readonly type: 'requested' }
  /** A run answered. */
  | {
      readonly type: 'acquired'
      readonly ticket: number
      readonly credential: C
      readonly expiresAt: number
      readonly certificate?: { readonly notBefore: number; readonly notAfter: number } | undefined
      /** Whether it is the credential we hold already. */
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
  /** The server took the credential with this ticket. */
  | { readonly type: 'accepted'; readonly ticket: number }
  /** The source noticed that it has something newer, such as a file that was written. */
  | { readonly type: 'changed' }
  /** A person wants a new one now, whatever we waited for. */
  | { readonly type: 'renew' }
  /** A person wants nothing kept; who needs it again fetches it again. */
  | { readonly type: 'forget' }
  /** A timer that we asked for rang. */
  | { readonly type: 'woke' }
  | { readonly type: 'closed' }

/** What the driver must do next. The machine itself never performs anything. */
export type Effect =
  | { readonly do: 'acquire'; readonly ticket: number; readonly reason: Reason }
  /** The credential is no longer handed out: what was built from it closes when its users are done. */
  | { readonly do: 'retire'; readonly ticket: number }
  | { readonly do: 'abort'; readonly ticket: number }
  | { readonly do: 'wake'; readonly at: number }
  /** A credential arrived that had expired already. */
  | { readonly do: 'warn-stale'; readonly expiresAt: number }

export type Step<C> = readonly [State<C>, ...Effect[]]

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
