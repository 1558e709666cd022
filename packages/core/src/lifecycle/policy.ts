import { type BackOffLimits, backOff, type Jitter } from './back-off.ts'

/** When a credential is refreshed, and how long to wait after failures. */
export interface LifecyclePolicy extends BackOffLimits {
  /** Earlier refusals are forgotten once a credential has been accepted for this long. */
  readonly forgetRefusalsMs: number
  /** The earliest that a refresh starts before the expiry. */
  readonly refreshAheadLimitMs: number
  /** Whether a refresh may run ahead of the expiry. False for plugins that always prompt the user. */
  readonly mayRunAhead: boolean
  /** Whether a run with a waiting caller can prompt the user; a run ahead of the expiry never can. */
  readonly mayPrompt: boolean
  /** How long requests in flight may continue after the certificate they were sent with was replaced. */
  readonly drainLimitMs: number
}

/** The policy of a source that sets none of its own. */
export const DEFAULT_LIFECYCLE: LifecyclePolicy = {
  backoffFirstMs: 1000,
  backoffLimitMs: 300_000,
  forgetRefusalsMs: 60_000,
  refreshAheadLimitMs: 300_000,
  mayRunAhead: true,
  mayPrompt: false,
  drainLimitMs: Number.POSITIVE_INFINITY,
}

/**
 * How long to use a credential that arrives already expired: one of the clocks is wrong, and the credential may still
 * work.
 */
const MIN_STALE_USE_MS = 10_000
/** The shortest time before running a plugin again that returned the same credential from its own cache. */
const MIN_SAME_REFRESH_MS = 10_000
const REFRESH_SPREAD = 0.1
/** The refresh window of a certificate, in addition to the time of two runs. */
const MIN_CERTIFICATE_WINDOW_MS = 10_000

/** Returns until when to use a credential that arrived expired. The time grows with each such credential in a row. */
export function staleUntil(
  now: number,
  count: number,
  jitter: Jitter,
  policy: LifecyclePolicy,
): number {
  return now + Math.max(MIN_STALE_USE_MS, backOff(count, policy, jitter))
}

interface Lifespan {
  readonly now: number
  readonly expiresAt: number
  /** Validity period of the client certificate, if there is one. */
  readonly certificate?: { readonly notBefore: number; readonly notAfter: number } | undefined
  readonly lastRunMs: number
  readonly jitter: Jitter
}

/** Returns when to fetch the next credential while this one is still in use; `Infinity` if it does not expire. */
export function refreshTime(life: Lifespan, policy: LifecyclePolicy): number {
  const { expiresAt, certificate } = life
  if (certificate === undefined) return refreshTimeOfToken(life, policy)
  const time = refreshTimeOfCertificate(life, certificate)
  // An expiry equal to the certificate's notAfter adds nothing.
  return expiresAt < certificate.notAfter ? Math.min(time, refreshTimeOfToken(life, policy)) : time
}

function refreshTimeOfToken(
  { now, expiresAt, lastRunMs, jitter }: Lifespan,
  policy: LifecyclePolicy,
): number {
  const remaining = expiresAt - now
  if (!Number.isFinite(remaining)) return Number.POSITIVE_INFINITY
  const window = Math.max(remaining / 5, 2 * lastRunMs + 500)
  const spread = 1 + REFRESH_SPREAD * jitter
  return expiresAt - Math.min(remaining / 2, window, policy.refreshAheadLimitMs) * spread
}

/**
 * KEP-541: rotate certificates within the last 1 % of their lifetime, not earlier unless that leaves too little time.
 */
function refreshTimeOfCertificate(
  { now, lastRunMs, jitter }: Lifespan,
  { notBefore, notAfter }: NonNullable<Lifespan['certificate']>,
): number {
  const hundredth = ((notAfter - notBefore) / 100) * (1 - REFRESH_SPREAD * (1 + jitter))
  const minimum = (2 * lastRunMs + MIN_CERTIFICATE_WINDOW_MS) * (1 + REFRESH_SPREAD * jitter)
  const window = Math.max(hundredth, minimum)
  return notAfter - Math.min((notAfter - now) / 2, window)
}

/** Returns when to run again after a run that returned the credential already in use. */
export function refreshTimeOfSame(now: number, expiresAt: number): number {
  return now + Math.max((expiresAt - now) / 2, MIN_SAME_REFRESH_MS)
}
