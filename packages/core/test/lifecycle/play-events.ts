import { type LifecyclePolicy, DEFAULT_LIFECYCLE as policy } from '../../src/lifecycle/policy.ts'
import { type Event, emptyState, type State } from '../../src/lifecycle/state.ts'
import { step } from '../../src/lifecycle/state-machine.ts'

export const MINUTE = 60_000

export type Acquired = Extract<Event<string>, { type: 'acquired' }>

/** The result of a run; it does not expire by default. */
export function acquired(ticket: number, more: Partial<Acquired> = {}): Acquired {
  return {
    type: 'acquired',
    ticket,
    credential: `credential ${ticket}`,
    expiresAt: Number.POSITIVE_INFINITY,
    isSame: false,
    tookMs: 0,
    jitter: 0,
    ...more,
  }
}

/** Plays events at times and returns the last state with all effects. */
export function play(...script: [number, Event<string>][]) {
  return playWith(policy, ...script)
}

/** The same with another policy. Also returns the time that the last event set the timer to. */
export function playWith(policy: LifecyclePolicy, ...script: [number, Event<string>][]) {
  let timer: number | undefined
  let state: State<string> = emptyState()
  const effects: unknown[] = []
  for (const [now, event] of script) {
    const [next, ...done] = step(state, event, now, policy)
    effects.push(
      ...done.map((effect) => ('ticket' in effect ? `${effect.do} ${effect.ticket}` : effect.do)),
    )
    timer = done.find((effect) => effect.do === 'set-timer')?.at
    state = next
  }
  return { state, effects, timer }
}

export const requested = { type: 'requested' } as const
export const rejected = (ticket: number) => ({ type: 'rejected', ticket }) as const
export const accepted = (ticket: number) => ({ type: 'accepted', ticket }) as const
export const failed = (ticket: number) =>
  ({ type: 'failed', ticket, error: 'why', jitter: 0 }) as const
export const tenMinutes = { expiresAt: 10 * MINUTE }
