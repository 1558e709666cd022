import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxBackOff } from '../../src/lifecycle/back-off.ts'
import { DEFAULT_LIFECYCLE, type LifecyclePolicy } from '../../src/lifecycle/policy.ts'
import { type Effect, type Event, emptyState, type State } from '../../src/lifecycle/state.ts'
import { step, verdict } from '../../src/lifecycle/state-machine.ts'

const policy: LifecyclePolicy = {
  ...DEFAULT_LIFECYCLE,
  backoffFirstMs: 10,
  backoffLimitMs: 200,
  forgetRefusalsMs: 100,
}

const ticket = fc.nat(12)
const jitter = fc.double({ min: -1, max: 1, noNaN: true })
const anyEvent: fc.Arbitrary<Event<string>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: 'requested' } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('acquired' as const),
      ticket,
      credential: fc.string({ maxLength: 3 }),
      expiresAt: fc.oneof(fc.nat(3000), fc.constant(Number.POSITIVE_INFINITY)),
      certificate: fc.option(fc.record({ notBefore: fc.nat(10), notAfter: fc.nat(3000) }), {
        nil: undefined,
      }),
      isSame: fc.boolean(),
      tookMs: fc.nat(50),
      jitter,
    }),
  },
  fc.record({ type: fc.constant('failed' as const), ticket, error: fc.constant('why'), jitter }),
  fc.record({ type: fc.constantFrom('rejected' as const, 'accepted' as const), ticket }),
  fc.constantFrom(
    { type: 'timer-fired' } as const,
    { type: 'changed' } as const,
    { type: 'renew' } as const,
    { type: 'forget' } as const,
  ),
)
/** How far the clock moves before each event: mostly a little, sometimes set forward or back. */
const anyMove = fc.oneof(
  { weight: 9, arbitrary: fc.nat(60) },
  fc.integer({ min: -5000, max: 5000 }),
)
const anyScript = fc.array(fc.tuple(anyEvent, anyMove), { maxLength: 80 })

interface Moment {
  readonly now: number
  readonly event: Event<string>
  readonly before: State<string>
  readonly after: State<string>
  readonly effects: readonly Effect[]
}

/** Runs the machine over a script. Tickets invented by the script stand for late and foreign results. */
function play(script: readonly (readonly [Event<string>, number])[]): Moment[] {
  const moments: Moment[] = []
  let before: State<string> = emptyState()
  let now = 0
  for (const [drawn, move] of [...script, [{ type: 'closed' } as const, 0] as const]) {
    now += move
    const event = withRealTicket(drawn, before)
    const [after, ...effects] = step(before, event, now, policy)
    moments.push({ now, event, before, after, effects })
    before = after
  }
  return moments
}

/** Gives half of the events the ticket in flight, so that scripts make progress. */
function withRealTicket(event: Event<string>, { attempt, held }: State<string>): Event<string> {
  if (!('ticket' in event) || event.ticket % 2 === 1) return event
  const real = event.type === 'acquired' || event.type === 'failed' ? attempt?.ticket : held?.ticket
  return real === undefined ? event : { ...event, ticket: real }
}

/** Whether an event is about another run or credential than the current one. */
function isForeign(event: Event<string>, { attempt, held }: State<string>): boolean {
  if (!('ticket' in event)) return false
  const isAnswer = event.type === 'acquired' || event.type === 'failed'
  return event.ticket !== (isAnswer ? attempt : held)?.ticket
}

/** The part of the state that only events change; a pause may also end because the clock was set. */
function changeable({
  held,
  attempt,
  failures,
  refusals,
  lastError,
  lastTicket,
}: State<string>): unknown {
  return { held, attempt, failures, refusals, lastError, lastTicket }
}

function check(property: (moments: readonly Moment[]) => void): void {
  fc.assert(
    fc.property(anyScript, (script) => property(play(script))),
    { numRuns: 3000 },
  )
}

const ticketsOf = (moments: readonly Moment[], what: Effect['do']): number[] =>
  moments.flatMap(({ effects }) =>
    effects.flatMap((effect) => (effect.do === what && 'ticket' in effect ? [effect.ticket] : [])),
  )

describe('after any sequence of events, the state machine', () => {
  it('retires every credential it ever held exactly once', () => {
    check((moments) => {
      const held = new Set(moments.flatMap(({ after }) => (after.held ? [after.held.ticket] : [])))
      expect(ticketsOf(moments, 'retire').sort()).toEqual([...held].sort())
    })
  })

  it('never has two runs in flight, and never reuses a ticket', () => {
    check((moments) => {
      const started = ticketsOf(moments, 'acquire')
      expect(new Set(started).size).toBe(started.length)
      for (const { before, effects, event } of moments) {
        const isAnswered = 'ticket' in event && event.ticket === before.attempt?.ticket
        if (effects.some((effect) => effect.do === 'acquire'))
          expect(before.attempt === undefined || isAnswered).toBe(true)
      }
    })
  })

  it('ignores results and refusals with an old ticket', () => {
    check((moments) => {
      for (const { event, before, after, effects } of moments) {
        if (isForeign(event, before))
          expect([changeable(after), effects]).toEqual([changeable(before), []])
      }
    })
  })

  it('never hands out an expired credential', () => {
    check((moments) => {
      for (const { after, now } of moments) {
        const answer = verdict(after, now)
        if (answer.is === 'use') expect(now).toBeLessThan(answer.held.expiresAt)
      }
    })
  })

  it('always gives a caller a credential, a run to wait for, or an error', () => {
    check((moments) => {
      for (const { after, now } of moments) {
        if (after.isClosed) continue
        const [asked] = step(after, { type: 'requested' }, now, policy)
        if (verdict(asked, now).is === 'wait') expect(asked.attempt).toBeDefined()
      }
    })
  })

  it('tries again within the longest pause, also when the clock was set', () => {
    check((moments) => {
      for (const { after, now } of moments) {
        if (after.isClosed || after.held !== undefined || after.attempt !== undefined) continue
        const later = now + maxBackOff(policy)
        expect(step(after, { type: 'requested' }, later, policy)[0].attempt).toBeDefined()
        // Setting the clock back by a year does not add a year of waiting.
        const earlier = now - 31_536_000_000
        expect(step(after, { type: 'requested' }, earlier, policy)[0].attempt).toBeDefined()
      }
    })
  })

  it('does not refresh an unused credential ahead of its expiry, unless the user asks for it', () => {
    check((moments) => {
      for (const { event, before, after } of moments) {
        const isAhead = after.attempt?.reason === 'ahead' && before.attempt === undefined
        const isWanted = event.type === 'requested' || event.type === 'renew'
        if (isAhead && !isWanted) expect(before.held?.isUsed).toBe(true)
      }
    })
  })
})
