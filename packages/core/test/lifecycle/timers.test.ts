import { describe, expect, it } from 'vitest'
import { DEFAULT_LIFECYCLE as policy } from '../../src/lifecycle/policy.ts'
import type { Event } from '../../src/lifecycle/state.ts'
import {
  acquired,
  failed,
  MINUTE,
  play,
  playWith,
  rejected,
  requested,
  tenMinutes,
} from './play-events.ts'

describe('the timer is set to', () => {
  const unused: [number, Event<string>][] = [
    [0, requested],
    [0, acquired(1, tenMinutes)],
  ]
  // Its refresh window begins at 8 minutes.
  const used: [number, Event<string>][] = [...unused, [MINUTE, requested]]

  it('the expiry of a credential that is not used', () => {
    expect(play(...unused).timer).toBe(10 * MINUTE)
  })

  it('the refresh window of a credential that is used', () => {
    expect(play(...used).timer).toBe(8 * MINUTE)
    expect(play(...used, [2 * MINUTE, { type: 'timer-fired' }]).timer).toBe(8 * MINUTE)
  })

  it('the expiry if no run may be ahead of it', () => {
    expect(playWith({ ...policy, mayRunAhead: false }, ...used).timer).toBe(10 * MINUTE)
  })

  it('the expiry while a run is in flight', () => {
    const { timer } = play(
      ...used,
      [2 * MINUTE, rejected(1)],
      [3 * MINUTE, { type: 'timer-fired' }],
    )
    expect(timer).toBe(10 * MINUTE)
  })

  it('the expiry while a run ahead of it is in flight', () => {
    const timer = { type: 'timer-fired' } as const
    for (const begun of [requested, timer]) {
      expect(play(...used, [8 * MINUTE, begun]).timer).toBe(10 * MINUTE)
      const expired = play(...used, [8 * MINUTE, begun], [10 * MINUTE, timer])
      expect(expired.state.held).toBeUndefined()
      expect(expired.effects.slice(-1)).toEqual(['retire 1'])
    }
  })

  it('the end of the pause after a failed run', () => {
    expect(play(...used, [8 * MINUTE, requested], [8 * MINUTE, failed(2)]).timer).toBe(
      8 * MINUTE + 1000,
    )
  })

  it('the expiry if the pause would end after it', () => {
    const late = 10 * MINUTE - 500
    expect(play(...used, [late, requested], [late, failed(2)]).timer).toBe(10 * MINUTE)
  })

  it('no time that has come, so that a policy without pauses causes no loop', () => {
    const { timer } = playWith(
      { ...policy, backoffFirstMs: 0 },
      ...used,
      [8 * MINUTE, requested],
      [8 * MINUTE, failed(2)],
    )
    expect(timer).toBe(10 * MINUTE)
  })

  it('the present if the source of a used credential changed during the run', () => {
    const changed = { type: 'changed' } as const
    expect(play(...used, [90_000, changed], [90_000, changed], [95_000, acquired(2)]).timer).toBe(
      95_000,
    )
    const first = play([0, requested], [1, changed], [2, acquired(1, tenMinutes)])
    expect([first.timer, first.state.held?.isUsed]).toEqual([10 * MINUTE, false])
  })

  it('nothing for a credential that does not expire', () => {
    expect(play([0, requested], [0, acquired(1)], [1, requested]).timer).toBeUndefined()
  })
})
