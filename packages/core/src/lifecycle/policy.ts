import { type BackOffLimits, backOff, type Jitter } from './back-off.ts'

/** How a credential is kept fresh, and how long we wait after failures. All times in milliseconds. */
export interface LifecyclePolicy extends BackOffLimits {
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
/** What the renewal of a certificate needs besides the time of two runs. */
const MIN_CERTIFICATE_WINDOW_MS = 10_000

/** Until when a credential that arrived expired is used; the pauses grow while it keeps happening. */
export function staleUntil(
  now: number,
  count: number,
  jitter: Jitter,
  policy: LifecyclePolicy,
): number {
  return now + Math.max(STALE_LIFE_MS, backOff(count, policy, jitter))
}

interface Lifespan {
  readonly now: number
  readonly expiresAt: number
  /** Validity of the certificate, where there is one. */
  readonly certificate?: { readonly notBefore: number; readonly notAfter: number } | undefined
  readonly lastRunMs: number
  readonly jitter: Jitter
}

/** When to fetch the next credential while this one still serves. `Infinity` for one without an end. */
export function refreshTime(life: Lifespan, policy: LifecyclePolicy): number {
  const { expiresAt, certificate } = life
  if (certificate === undefined) return refreshTimeOfToken(life, policy)
  const time = refreshTimeOfCertificate(life, certificate)
  // An expiry that only repeats the end of the certificate is not one of its own.
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

/** KEP-541 wants certificates to be rotated within the last hundredth of their life: never earlier, if there is time. */
function refreshTimeOfCertificate(
  { now, lastRunMs, jitter }: Lifespan,
  { notBefore, notAfter }: NonNullable<Lifespan['certificate']>,
): number {
  const hundredth = ((notAfter - notBefore) / 100) * (1 - REFRESH_SPREAD * (1 + jitter))
  const least = (2 * lastRunMs + MIN_CERTIFICATE_WINDOW_MS) * (1 + REFRESH_SPREAD * jitter)
  const window = Math.max(hundredth, least)
  return notAfter - Math.min((notAfter - now) / 2, window)
}

/** When to ask again after a run that gave us the credential we already had. */
export function refreshTimeOfSame(now: number, expiresAt: number): number {
  return now + Math.max((expiresAt - now) / 2, SAME_AGAIN_MS)
}
