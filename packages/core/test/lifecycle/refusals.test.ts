import { describe, expect, it } from 'vitest'
import { DEFAULT_LIFECYCLE as policy } from '../../src/lifecycle/policy.ts'
import { type Event, emptyState } from '../../src/lifecycle/state.ts'
import { step, verdict } from '../../src/lifecycle/state-machine.ts'
import { accepted, acquired, failed, MINUTE, play, rejected, requested } from './play-events.ts'

describe('a refused credential', () => {
  const held: [number, Event<string>][] = [
    [0, requested],
    [0, acquired(1)],
    [0, requested],
  ]

  it('is replaced at once, and requests wait for the new one', () => {
    const { state, effects } = play(...held, [10, rejected(1)], [11, requested])
    expect(effects).toEqual(['acquire 1', 'acquire 2'])
    expect(state.attempt?.reason).toBe('refused')
    expect(verdict(state, 11)).toEqual({ is: 'wait' })
  })

  it('causes one run, however many requests were refused', () => {
    const { effects } = play(
      ...held,
      [10, rejected(1)],
      [11, rejected(1)],
      [20, acquired(2)],
      [21, rejected(1)],
    )
    expect(effects).toEqual(['acquire 1', 'acquire 2', 'retire 1'])
  })

  it('is not affected by a refusal of an older credential', () => {
    const { state } = play(...held, [10, rejected(1)], [20, acquired(2)])
    expect(step(state, rejected(1), 30, policy)).toEqual([state])
  })

  it('is still sent if it was a replacement itself, and only runs are delayed', () => {
    const { state, effects } = play(
      ...held,
      [10, rejected(1)],
      [20, acquired(2)],
      [30, rejected(2)],
      [40, requested],
    )
    expect(effects.filter((effect) => effect === 'acquire 3')).toEqual([])
    expect(verdict(state, 40)).toMatchObject({ is: 'use', held: { ticket: 2 } })
    expect(step(state, rejected(2), 1021, policy)[1]).toEqual({
      do: 'acquire',
      ticket: 3,
      reason: 'refused',
    })
  })

  it('is sent after a second refusal, also while another run is in flight', () => {
    const { state } = play(...held, [10, rejected(1)], [20, acquired(2)], [2000, rejected(2)])
    expect(state.attempt).toEqual({ ticket: 3, reason: 'refused' })
    expect(verdict(state, 2000)).toMatchObject({ is: 'use', held: { ticket: 2 } })
  })

  it('is sent again once the server accepts it, also while a run is in flight, and still counts', () => {
    const { state } = play(...held, [10, rejected(1)], [15, accepted(1)])
    expect(verdict(state, 15)).toMatchObject({ is: 'use', held: { ticket: 1 } })
    expect(step(state, acquired(2), 20, policy)[0].refusals).toBe(1)
  })

  it('stays refused if the run returns it again, and only then', () => {
    const isRefused = (isSame: boolean) =>
      play(...held, [10, rejected(1)], [20, acquired(2, { isSame })]).state.held?.isRefused
    expect([isRefused(true), isRefused(false)]).toEqual([true, false])
  })

  it('causes no run during the pause after a failed one', () => {
    const renewed: [number, Event<string>][] = [...held, [1, { type: 'renew' }], [1, failed(2)]]
    const { state } = play(...renewed, [1000, rejected(1)])
    expect([state.attempt, state.held?.isRefused]).toEqual([undefined, true])
    expect(play(...renewed, [1001, rejected(1)]).state.attempt?.reason).toBe('refused')
  })

  it('no longer counts once its replacement was accepted until its renewal, however short its lifetime', () => {
    const life = (ticket: number) => acquired(ticket, { expiresAt: 20_000 * ticket })
    const { state } = play(
      [0, requested],
      [0, life(1)],
      [10, rejected(1)],
      [20, life(2)],
      [30, requested],
      [40, accepted(2)],
      [39_000, requested],
      [39_001, life(3)],
    )
    expect(state.refusals).toBe(0)
    // If the replacement was never used, nothing shows that the server accepts it.
    const unused = play(
      [0, requested],
      [0, life(1)],
      [10, rejected(1)],
      [20, life(2)],
      [21, { type: 'renew' }],
      [22, life(3)],
    )
    expect(unused.state.refusals).toBe(1)
  })

  it('causes runs at growing intervals if the server refuses everything', () => {
    let [state] = step(emptyState<string>(), requested, 0, policy)
    ;[state] = step(state, acquired(1), 0, policy)
    const runs: number[] = []
    for (let now = 0; now < 20 * MINUTE; now += 100) {
      ;[state] = step(state, requested, now, policy)
      if (state.held) [state] = step(state, rejected(state.held.ticket), now, policy)
      if (state.attempt) {
        runs.push(Math.round(now / 1000))
        ;[state] = step(state, acquired(state.attempt.ticket), now, policy)
      }
    }
    expect(runs).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111])
  })

  it('is trusted again as soon as the server accepts it', () => {
    const { state } = play(
      ...held,
      [10, rejected(1)],
      [20, acquired(2)],
      [30, rejected(2)],
      [40, accepted(2)],
    )
    expect(state.held?.isRefused).toBe(false)
  })

  it('no longer counts after its replacement was accepted for a minute, and not before', () => {
    const served = (age: number) =>
      play(...held, [10, rejected(1)], [20, acquired(2)], [20 + age, accepted(2)]).state
    expect(served(MINUTE).refusals).toBe(0)
    expect(served(MINUTE - 1).refusals).toBe(1)
  })

  it('is still sent if the run that should replace it fails', () => {
    const { state } = play(...held, [10, rejected(1)], [20, failed(2)], [30, requested])
    expect(verdict(state, 30)).toMatchObject({ is: 'use', held: { ticket: 1 } })
  })
})
