import type { Held, State } from './state.ts'

/** What somebody who asks gets, in the given state. Ask after a `requested` event. */
export type Verdict<C> =
  | { readonly is: 'use'; readonly held: Held<C> }
  | { readonly is: 'wait' }
  | { readonly is: 'fail'; readonly error: unknown; readonly nextTryAt: number }
  | { readonly is: 'closed' }

export function verdict<C>(state: State<C>, now: number): Verdict<C> {
  const { held, attempt } = state
  if (state.isClosed) return { is: 'closed' }
  if (held !== undefined && now < held.expiresAt && !awaitsBetter(state)) return { is: 'use', held }
  if (attempt !== undefined || state.lastError === undefined) return { is: 'wait' }
  return { is: 'fail', error: state.lastError, nextTryAt: state.pausedUntil }
}

/**
 * The first refusal makes everybody wait for the refresh. When the new credential is refused too, the
 * trouble is not the credential: requests go out with what we hold and hear it from the server itself.
 */
function awaitsBetter<C>({ held, attempt, refusals }: State<C>): boolean {
  return held?.isRefused === true && attempt?.reason === 'refused' && refusals <= 1
}
