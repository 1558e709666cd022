import { backOff, maxBackOff } from './back-off.ts'
import { type LifecyclePolicy, refreshTime, refreshTimeOfSame, staleUntil } from './policy.ts'
import type { Effect, Event, HeldCredential, Reason, State, Step } from './state.ts'

type Acquired<C> = Extract<Event<C>, { type: 'acquired' }>
type Failed<C> = Extract<Event<C>, { type: 'failed' }>

/**
 * Returns the next state of a credential after an event, and the effects to perform. Pure: no clock and no I/O.
 *
 * Three rules: only one run is in flight; a result with an old ticket is dropped; a refusal counts only against the
 * credential that was sent.
 */
export function step<C>(
  current: State<C>,
  event: Event<C>,
  now: number,
  policy: LifecyclePolicy,
): Step<C> {
  if (current.isClosed) return [current]
  const state = forgetImpossiblePauses(current, now, policy)
  switch (event.type) {
    case 'requested':
      return whenRequested(state, now, policy)
    case 'acquired':
      return event.ticket === state.attempt?.ticket
        ? whenAcquired(state, event, now, policy)
        : [state]
    case 'failed':
      return event.ticket === state.attempt?.ticket
        ? whenFailed(state, event, now, policy)
        : [state]
    case 'rejected':
      return event.ticket === state.held?.ticket ? whenRejected(state, state.held, now) : [state]
    case 'accepted':
      return event.ticket === state.held?.ticket
        ? whenAccepted(state, state.held, now, policy)
        : [state]
    case 'changed':
      return whenChanged(state, now, policy)
    case 'renew':
      return whenRenewed(state, now)
    case 'forget':
      return whenForgotten(state)
    case 'timer-fired':
      return whenWoken(state, now, policy)
    case 'closed':
      return whenClosed(state)
  }
}

function whenRequested<C>(state: State<C>, now: number, policy: LifecyclePolicy): Step<C> {
  const { held } = state
  if (held === undefined) return beginNeeded(state, 'first', now)
  if (now >= held.expiresAt) {
    const [dropped, ...retired] = drop(state, held)
    const [next, ...begun] = beginNeeded(dropped, 'expired', now)
    return [next, ...retired, ...begun]
  }
  const used = held.isUsed ? state : { ...state, held: { ...held, isUsed: true } }
  if (now >= held.refreshAt) return beginAhead(used, now, policy)
  return used === state ? [state] : [used, ...wakeFor(used, now, policy)]
}

function whenWoken<C>(state: State<C>, now: number, policy: LifecyclePolicy): Step<C> {
  const { held } = state
  if (held === undefined) return [state]
  if (now >= held.expiresAt) return drop(state, held)
  if (held.isUsed && now >= held.refreshAt) return beginAhead(state, now, policy)
  return [state, ...wakeFor(state, now, policy)]
}

/**
 * Fetches now if the credential is in use, otherwise with the next request. The held one stays in use meanwhile.
 *
 * A run in flight may have read the source before the change, so another run follows it.
 */
function whenChanged<C>(current: State<C>, now: number, policy: LifecyclePolicy): Step<C> {
  const { held, attempt } = current
  const state = attempt ? { ...current, attempt: { ...attempt, isOutdated: true } } : current
  if (held === undefined) return [state]
  const due: State<C> = { ...state, held: { ...held, refreshAt: Math.min(held.refreshAt, now) } }
  return held.isUsed ? beginAhead(due, now, policy) : [due]
}

/**
 * The held credential stays in use until the new one arrives.
 *
 * Pauses do not apply: they limit programs, not the user.
 */
function whenRenewed<C>(current: State<C>, now: number): Step<C> {
  if (current.attempt !== undefined) return [current]
  const never = Number.NEGATIVE_INFINITY
  const state: State<C> = { ...current, pausedUntil: never, aheadPausedUntil: never }
  const { held } = state
  if (held === undefined) return begin(state, 'first')
  if (now < held.expiresAt) return begin(state, 'ahead')
  const [dropped, ...retired] = drop(state, held)
  const [next, ...begun] = begin(dropped, 'expired')
  return [next, ...retired, ...begun]
}

/** A run in flight continues: its result is not the credential to forget. */
function whenForgotten<C>(state: State<C>): Step<C> {
  return state.held === undefined ? [state] : drop(state, state.held)
}

function whenAcquired<C>(
  state: State<C>,
  event: Acquired<C>,
  now: number,
  policy: LifecyclePolicy,
): Step<C> {
  const isStale = event.expiresAt <= now
  const stale = isStale ? state.stale + 1 : 0
  const wanted = isStale ? staleUntil(now, stale, event.jitter, policy) : event.expiresAt
  // A certificate expires at its notAfter regardless of the expiry given. If that has passed, the server decides.
  const certificate = (event.certificate?.notAfter ?? 0) > now ? event.certificate : undefined
  const expiresAt = Math.min(wanted, certificate?.notAfter ?? wanted)
  const old = state.held
  const isSame = event.isSame && old !== undefined
  const held: HeldCredential<C> = {
    credential: isSame ? old.credential : event.credential,
    ticket: isSame ? old.ticket : event.ticket,
    acquiredAt: isSame ? old.acquiredAt : now,
    expiresAt,
    refreshAt: isSame
      ? refreshTimeOfSame(now, expiresAt)
      : refreshTime({ ...event, certificate, now, expiresAt, lastRunMs: event.tookMs }, policy),
    isUsed: false,
    isRefused: isSame && old.isRefused,
  }
  const next: State<C> = {
    ...state,
    held,
    attempt: undefined,
    failures: 0,
    pausedUntil: Number.NEGATIVE_INFINITY,
    aheadPausedUntil: Number.NEGATIVE_INFINITY,
    lastError: undefined,
    stale,
    // A credential in use until its renewal was accepted, even if it lived for less than forgetRefusalsMs.
    refusals: hasServed(state) ? 0 : state.refusals,
    refusalsPausedUntil: pauseAfterRefusal(state, event.jitter, now, policy),
  }
  const effects: Effect[] = []
  if (old !== undefined && !isSame) effects.push({ do: 'retire', ticket: old.ticket })
  if (isStale) effects.push({ do: 'warn-stale', expiresAt: event.expiresAt })
  const [last, ...wakes] = wakeAfterRun(state, next, now, policy)
  return [last, ...effects, ...wakes]
}

/**
 * If the source changed during the run, another run is due: now if the credential is in use, otherwise with the next
 * request.
 */
function wakeAfterRun<C>(
  before: State<C>,
  state: State<C>,
  now: number,
  policy: LifecyclePolicy,
): Step<C> {
  const { held } = state
  if (held === undefined || !before.attempt?.isOutdated) {
    return [state, ...wakeFor(state, now, policy)]
  }
  const isUsed = before.held?.isUsed === true
  const due: State<C> = { ...state, held: { ...held, refreshAt: now, isUsed } }
  // By a timer, so that the result of this run is reported before the next one starts.
  return isUsed ? [due, { do: 'set-timer', at: now }] : [due, ...wakeFor(due, now, policy)]
}

function whenFailed<C>(
  state: State<C>,
  event: Failed<C>,
  now: number,
  policy: LifecyclePolicy,
): Step<C> {
  const failures = state.failures + 1
  const until = now + backOff(failures, policy, event.jitter)
  // A run ahead of the expiry cannot prompt the user. Its failure must not delay a run that can.
  const onlyAhead = state.attempt?.reason === 'ahead' && policy.mayPrompt
  const next: State<C> = {
    ...state,
    attempt: undefined,
    failures,
    pausedUntil: onlyAhead ? state.pausedUntil : until,
    aheadPausedUntil: until,
    lastError: event.error,
    refusalsPausedUntil: pauseAfterRefusal(state, event.jitter, now, policy),
  }
  return [next, ...wakeFor(next, now, policy)]
}

function whenRejected<C>(state: State<C>, held: HeldCredential<C>, now: number): Step<C> {
  const refused: State<C> = { ...state, held: { ...held, isRefused: true } }
  if (state.attempt !== undefined || now < state.refusalsPausedUntil) return [refused]
  if (now < state.pausedUntil) return [refused]
  return begin({ ...refused, refusals: state.refusals + 1 }, 'refused')
}

function whenAccepted<C>(
  state: State<C>,
  held: HeldCredential<C>,
  now: number,
  policy: LifecyclePolicy,
): Step<C> {
  const isOld = now - held.acquiredAt >= policy.forgetRefusalsMs
  return [{ ...state, held: { ...held, isRefused: false }, refusals: isOld ? 0 : state.refusals }]
}

function whenClosed<C>(state: State<C>): Step<C> {
  const effects: Effect[] = []
  if (state.held !== undefined) effects.push({ do: 'retire', ticket: state.held.ticket })
  if (state.attempt !== undefined) effects.push({ do: 'abort', ticket: state.attempt.ticket })
  return [{ ...state, isClosed: true, held: undefined, attempt: undefined }, ...effects]
}

/** Removes a credential from the state and retires it, so that what it opened is always closed. */
function drop<C>(state: State<C>, held: HeldCredential<C>): Step<C> {
  return [
    { ...state, held: undefined },
    { do: 'retire', ticket: held.ticket },
  ]
}

function beginNeeded<C>(state: State<C>, reason: Reason, now: number): Step<C> {
  const mustWait = state.attempt !== undefined || now < state.pausedUntil
  return mustWait ? [state] : begin(state, reason)
}

function beginAhead<C>(state: State<C>, now: number, policy: LifecyclePolicy): Step<C> {
  if (!policy.mayRunAhead || state.attempt !== undefined)
    return [state, ...wakeFor(state, now, policy)]
  if (now < state.aheadPausedUntil) return [state, ...wakeFor(state, now, policy)]
  const [next, ...begun] = begin(state, 'ahead')
  // If the run takes longer than the credential lives, the credential is retired without it.
  return [next, ...wakeFor(next, now, policy), ...begun]
}

function begin<C>(state: State<C>, reason: Reason): Step<C> {
  const ticket = state.lastTicket + 1
  return [
    { ...state, lastTicket: ticket, attempt: { ticket, reason } },
    { do: 'acquire', ticket, reason },
  ]
}

function hasServed<C>({ held, attempt }: State<C>): boolean {
  return attempt?.reason === 'ahead' && held?.isUsed === true && !held.isRefused
}

function pauseAfterRefusal<C>(
  state: State<C>,
  jitter: number,
  now: number,
  policy: LifecyclePolicy,
): number {
  const { refusals, attempt, refusalsPausedUntil } = state
  return attempt?.reason === 'refused'
    ? now + backOff(refusals, policy, jitter)
    : refusalsPausedUntil
}

/** Ends pauses longer than any that `backOff` returns: the clock was set back. */
function forgetImpossiblePauses<C>(
  state: State<C>,
  now: number,
  policy: LifecyclePolicy,
): State<C> {
  const latest = now + maxBackOff(policy)
  const { pausedUntil, aheadPausedUntil, refusalsPausedUntil } = state
  if (Math.max(pausedUntil, aheadPausedUntil, refusalsPausedUntil) <= latest) return state
  const possible = (until: number): number => (until > latest ? Number.NEGATIVE_INFINITY : until)
  return {
    ...state,
    pausedUntil: possible(pausedUntil),
    aheadPausedUntil: possible(aheadPausedUntil),
    refusalsPausedUntil: possible(refusalsPausedUntil),
  }
}

function wakeFor<C>(state: State<C>, now: number, policy: LifecyclePolicy): Effect[] {
  const { held } = state
  if (held === undefined) return []
  const ahead = held.isUsed && policy.mayRunAhead && state.attempt === undefined
  const next = ahead ? Math.max(held.refreshAt, state.aheadPausedUntil) : held.expiresAt
  const at = Math.min(next > now ? next : held.expiresAt, held.expiresAt)
  return Number.isFinite(at) ? [{ do: 'set-timer', at }] : []
}

/** What a caller gets in a given state. */
export type Verdict<C> =
  | { readonly is: 'use'; readonly held: HeldCredential<C> }
  | { readonly is: 'wait' }
  | { readonly is: 'fail'; readonly error: unknown; readonly nextTryAt: number }
  | { readonly is: 'closed' }

/** Returns what a caller gets now. Call it after a `requested` event. */
export function verdict<C>(state: State<C>, now: number): Verdict<C> {
  const { held, attempt } = state
  if (state.isClosed) return { is: 'closed' }
  if (held !== undefined && now < held.expiresAt && !waitsForReplacement(state))
    return { is: 'use', held }
  if (attempt !== undefined || state.lastError === undefined) return { is: 'wait' }
  return { is: 'fail', error: state.lastError, nextTryAt: state.pausedUntil }
}

/**
 * After the first refusal, requests wait for the refresh. If the new credential is refused too, the credential is not
 * the problem: requests are sent with it and receive the server's response.
 */
function waitsForReplacement<C>({ held, attempt, refusals }: State<C>): boolean {
  return held?.isRefused === true && attempt?.reason === 'refused' && refusals <= 1
}
