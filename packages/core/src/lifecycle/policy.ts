/** How a credential is kept fresh, and how long we wait after failures. All times in milliseconds. */
export interface LifecyclePolicy {
  /** First pause after a failed run or a refused credential; it doubles from there. */
  readonly backoffFirstMs: number
  readonly backoffLimitMs: number
  /** A credential that served this long without a refusal makes us forget earlier ones. */
  readonly forgetRefusalsMs: number
  /** No refresh starts earlier than this before the expiry. */
  readonly refreshAheadLimitMs: number
  /** Whether runs ahead of time may happen at all: not for plugins that always ask a person. */
  readonly mayRunAhead: boolean
  /** Whether a run that somebody waits for can ask a person, while one ahead of time cannot. */
  readonly mayAsk: boolean
  /** How long requests in flight may go on after the certificate they were sent with was replaced. */
  readonly drainLimitMs: number
}

export const DEFAULT_LIFECYCLE: LifecyclePolicy = {
  backoffFirstMs: 1000,
  backoffLimitMs: 300_000,
  forgetRefusalsMs: 60_000,
  refreshAheadLimitMs: 300_000,
  mayRunAhead: true,
  mayAsk: false,
  drainLimitMs: Number.POSITIVE_INFINITY,
}

/** How long a credential that came already expired is used: its clock or ours is wrong, and it may well work. */
const STALE_LIFE_MS = 10_000
/** A plugin with a cache of its own is not asked again sooner than this. */
const SAME_AGAIN_MS = 10_000
const REFRESH_SPREAD = 0.1
const BACKOFF_SPREAD = 0.2

/** A number between -1 and 1, fresh for every use, so that many processes do not act in step. */
export type Jitter = number

/** Pause after the given number of failures in a row, counted from 1. */
export function backoffMs(count: number, jitter: Jitter, policy: LifecyclePolicy): number {
  const plain = policy.backoffFirstMs * 2 ** Math.min(count - 1, 30)
  return Math.min(plain, policy.backoffLimitMs) * (1 + BACKOFF_SPREAD * jitter)
}

/** The longest pause `backoffMs` can give: anything longer means that the clock was set back. */
export function longestBackoffMs(policy: LifecyclePolicy): number {
  return policy.backoffLimitMs * (1 + BACKOFF_SPREAD)
}

/** Until when a credential that arrived expired is used; the pauses grow while it keeps happening. */
export function staleUntil(
  now: number,
  count: number,
  jitter: Jitter,
  policy: LifecyclePolicy,
): number {
  return now + Math.max(STALE_LIFE_MS, backoffMs(count, jitter, policy))
}

export interface Lifespan {
  readonly now: number
  readonly expiresAt: number
  /** Validity of the certificate, where there is one. */
  readonly certificate?: { readonly notBefore: number; readonly notAfter: number } | undefined
  readonly lastRunMs: number
  readonly jitter: Jitter
}

/** When to fetch the next credential while this one still serves. `Infinity` for one without an end. */
export function refreshTime(life: Lifespan, policy: LifecyclePolicy): number {
  const { now, expiresAt, certificate, lastRunMs, jitter } = life
  const spread = 1 + REFRESH_SPREAD * jitter
  const remaining = expiresAt - now
  let time = Number.POSITIVE_INFINITY
  if (Number.isFinite(remaining)) {
    const window = Math.max(remaining / 5, 2 * lastRunMs + 500)
    time = expiresAt - Math.min(remaining / 2, window, policy.refreshAheadLimitMs) * spread
  }
  if (certificate === undefined) return time
  // The KEP rotates certificates in the last hundredth of their life.
  const left = certificate.notAfter - now
  const window = Math.max(
    (certificate.notAfter - certificate.notBefore) / 100,
    2 * lastRunMs + 10_000,
  )
  return Math.min(time, certificate.notAfter - Math.min(left / 2, window) * spread)
}

/** When to ask again after a run that gave us the credential we already had. */
export function refreshTimeOfSame(now: number, expiresAt: number): number {
  return now + Math.max((expiresAt - now) / 2, SAME_AGAIN_MS)
}
