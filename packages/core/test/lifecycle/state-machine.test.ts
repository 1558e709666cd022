import { describe, expect, it } from 'vitest'
import { DEFAULT_LIFECYCLE as policy } from '../../src/lifecycle/policy.ts'
import { type Event, emptyState, type State } from '../../src/lifecycle/state.ts'
import { step, verdict } from '../../src/lifecycle/state-machine.ts'
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

describe('an empty state', () => {
  it('starts one run for any number of requests', () => {
    const { effects, state } = play([0, requested], [0, requested], [5, requested])
    expect(effects).toEqual(['acquire 1'])
    expect(verdict(state, 5)).toEqual({ is: 'wait' })
    expect(verdict(emptyState(), 0)).toEqual({ is: 'wait' })
  })
})

describe('the credential in use', () => {
  const begun: [number, Event<string>][] = [
    [0, requested],
    [0, acquired(1, tenMinutes)],
  ]

  it('is used without a run while it is fresh', () => {
    const { effects, state } = play(...begun, [MINUTE, requested], [MINUTE, requested])
    expect(effects).toEqual(['acquire 1', 'set-timer', 'set-timer'])
    expect(verdict(state, MINUTE)).toMatchObject({ is: 'use', held: { ticket: 1 } })
  })

  it('is renewed ahead of its expiry while it is still used', () => {
    const { effects, state } = play(
      ...begun,
      [MINUTE, requested],
      [9 * MINUTE, { type: 'timer-fired' }],
    )
    expect(effects.at(-1)).toBe('acquire 2')
    expect(state.attempt?.reason).toBe('ahead')
    expect(verdict(state, 9 * MINUTE)).toMatchObject({ is: 'use', held: { ticket: 1 } })
  })

  it('is not renewed ahead of its expiry if it was not used since it was acquired', () => {
    const { effects } = play(...begun, [9 * MINUTE, { type: 'timer-fired' }])
    expect(effects).not.toContain('acquire 2')
  })

  it('is not renewed before its refresh window, if the timer fires too early', () => {
    const { state } = play(...begun, [MINUTE, requested], [2 * MINUTE, { type: 'timer-fired' }])
    expect(state.attempt).toBeUndefined()
  })

  it('is retired and replaced once expired, and no longer handed out', () => {
    const { effects, state } = play(...begun, [11 * MINUTE, requested])
    expect(effects.slice(-2)).toEqual(['retire 1', 'acquire 2'])
    expect(verdict(state, 11 * MINUTE)).toEqual({ is: 'wait' })
    expect(verdict(play(...begun).state, 10 * MINUTE)).toEqual({ is: 'wait' })
  })

  it('is retired at its expiry also without a request', () => {
    expect(play(...begun, [10 * MINUTE, { type: 'timer-fired' }]).effects.at(-1)).toBe('retire 1')
  })

  it('is fetched again when the source changes: at once if it is used, otherwise with the next request', () => {
    const changed = { type: 'changed' } as const
    const used = play(...begun, [1, requested], [2, changed])
    expect(used.state.attempt).toEqual({ ticket: 2, reason: 'ahead' })
    expect(verdict(used.state, 2)).toMatchObject({ is: 'use', held: { ticket: 1 } })
    const unused = play(...begun, [2, changed])
    expect(unused.state.attempt).toBeUndefined()
    expect(step(unused.state, requested, 3, policy)[0].attempt).toEqual({
      ticket: 2,
      reason: 'ahead',
    })
  })

  it('is fetched once more if the source changes during the run', () => {
    const changed = { type: 'changed' } as const
    const first = play([0, requested], [1, changed], [2, acquired(1, tenMinutes)], [2, requested])
    expect(verdict(first.state, 2)).toMatchObject({ is: 'use', held: { ticket: 1 } })
    expect(first.state.attempt).toEqual({ ticket: 2, reason: 'ahead' })
    const again = play(...begun, [1, requested], [2, changed], [3, changed], [4, acquired(2)])
    expect(again.effects.at(-1)).toBe('set-timer')
    expect(step(again.state, { type: 'timer-fired' }, 4, policy)[0].attempt).toEqual({
      ticket: 3,
      reason: 'ahead',
    })
  })

  it('is not fetched once more if the run started after the change', () => {
    const { state } = play(...begun, [1, requested], [2, { type: 'changed' }], [3, acquired(2)])
    expect(step(state, requested, 3, policy)[0].attempt).toBeUndefined()
  })

  it('is fetched again on renew, used or not, and stays in use meanwhile', () => {
    const { state, effects } = play(...begun, [2, { type: 'renew' }], [3, { type: 'renew' }])
    expect(effects.filter((effect) => String(effect).startsWith('acquire'))).toEqual([
      'acquire 1',
      'acquire 2',
    ])
    expect(state.attempt).toEqual({ ticket: 2, reason: 'ahead' })
    expect(verdict(state, 3)).toMatchObject({ is: 'use', held: { ticket: 1 } })
  })

  it('is fetched again on renew also during a pause, and after it has expired', () => {
    const failing = play(...begun, [1, { type: 'renew' }], [1, failed(2)], [2, { type: 'renew' }])
    expect(failing.state.attempt).toEqual({ ticket: 3, reason: 'ahead' })
    const expired = play(...begun, [10 * MINUTE, { type: 'renew' }])
    expect(expired.effects.slice(-2)).toEqual(['retire 1', 'acquire 2'])
    expect(expired.state.attempt?.reason).toBe('expired')
    const none = play([0, requested], [0, failed(1)], [1, { type: 'renew' }])
    expect(none.state.attempt).toEqual({ ticket: 2, reason: 'first' })
  })

  it('is retired on forget, and fetched with the next request', () => {
    const { state, effects } = play(...begun, [2, { type: 'forget' }], [3, { type: 'forget' }])
    expect(effects.filter((effect) => effect === 'retire 1')).toHaveLength(1)
    expect([state.held, state.attempt]).toEqual([undefined, undefined])
    expect(step(state, requested, 4, policy)[0].attempt).toEqual({ ticket: 2, reason: 'first' })
  })

  it('keeps its ticket if the plugin returns the same credential again', () => {
    const same = acquired(2, { ...tenMinutes, isSame: true })
    const { state, effects } = play(
      ...begun,
      [MINUTE, requested],
      [9 * MINUTE, requested],
      [9 * MINUTE, same],
    )
    expect(state.held?.ticket).toBe(1)
    expect(effects).not.toContain('retire 1')
  })

  it('is fetched again after half the remaining time, at least 10 s, if the plugin returned it from its cache', () => {
    const same = acquired(2, { ...tenMinutes, isSame: true })
    const at = (now: number) =>
      play(...begun, [1, requested], [now, requested], [now, same]).state.held?.refreshAt
    expect(at(9 * MINUTE)).toBe(9 * MINUTE + MINUTE / 2)
    expect(at(10 * MINUTE - 5000)).toBe(10 * MINUTE + 5000)
  })

  it('expires with its certificate if that is earlier than the expiry', () => {
    const certificate = { notBefore: 0, notAfter: 5 * MINUTE }
    const { state } = play([0, requested], [0, acquired(1, { ...tenMinutes, certificate })])
    expect(state.held?.expiresAt).toBe(5 * MINUTE)
  })

  it.each([MINUTE, MINUTE - 1])(
    'is used until its expiry if its certificate had expired when it arrived, at %d ms',
    (notAfter) => {
      const certificate = { notBefore: 0, notAfter }
      const { state } = play(
        [MINUTE, requested],
        [MINUTE, acquired(1, { ...tenMinutes, certificate })],
      )
      expect(state.held?.expiresAt).toBe(10 * MINUTE)
    },
  )

  it.each([MINUTE, MINUTE - 1])(
    'is used for a while if it arrived expired, at %d ms, with a warning',
    (expiresAt) => {
      const { state, effects } = play([MINUTE, requested], [MINUTE, acquired(1, { expiresAt })])
      expect(effects).toContain('warn-stale')
      expect(state.held?.expiresAt).toBe(MINUTE + 10_000)
    },
  )

  it('is fetched at growing intervals if it keeps arriving expired', () => {
    let now = 0
    let state: State<string> = emptyState()
    const lives: number[] = []
    for (let run = 1; run <= 8; run += 1) {
      ;[state] = step(state, requested, now, policy)
      ;[state] = step(state, acquired(state.attempt?.ticket ?? 0, { expiresAt: -1 }), now, policy)
      lives.push((state.held?.expiresAt ?? 0) - now)
      now = state.held?.expiresAt ?? 0
    }
    expect(lives).toEqual([10, 10, 10, 10, 16, 32, 64, 128].map((seconds) => seconds * 1000))
  })
})

describe('a failed run', () => {
  it('rejects all requests at once, with its error and the time of the next try', () => {
    const { state, effects } = play([0, requested], [100, failed(1)], [200, requested])
    expect(verdict(state, 200)).toEqual({ is: 'fail', error: 'why', nextTryAt: 1100 })
    expect(effects).toEqual(['acquire 1'])
  })

  it('is tried again when the pause is over', () => {
    const { effects } = play([0, requested], [0, failed(1)], [999, requested], [1000, requested])
    expect(effects).toEqual(['acquire 1', 'acquire 2'])
    const { state } = play([0, requested], [0, failed(1)], [1000, requested])
    expect(verdict(state, 1000)).toEqual({ is: 'wait' })
  })

  it('is followed by a pause that grows each time, up to the limit', () => {
    let state: State<string> = emptyState()
    let now = 0
    const pauses = Array.from({ length: 10 }, (_, index) => {
      for (const event of [requested, failed(index + 1)]) [state] = step(state, event, now, policy)
      const pauseMs = state.pausedUntil - now
      now = state.pausedUntil
      return pauseMs / 1000
    })
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
  })

  it('is followed by a pause that varies with the jitter', () => {
    const [running] = step(emptyState<string>(), requested, 0, policy)
    const [state] = step(running, { ...failed(1), jitter: 1 }, 0, policy)
    expect(state.pausedUntil).toBe(1200)
  })

  it('does not affect requests while the old credential is valid', () => {
    const { state } = play(
      [0, requested],
      [0, acquired(1, tenMinutes)],
      [MINUTE, requested],
      [9 * MINUTE, requested],
      [9 * MINUTE, failed(2)],
      [9 * MINUTE, requested],
    )
    expect(verdict(state, 9 * MINUTE)).toMatchObject({ is: 'use', held: { ticket: 1 } })
    expect(state.attempt).toBeUndefined()
    expect(step(state, requested, 9 * MINUTE + 1000, policy)[0].attempt?.reason).toBe('ahead')
  })

  it('does not delay a run that may prompt the user if it was ahead of the expiry', () => {
    const script: [number, Event<string>][] = [
      [0, requested],
      [0, acquired(1, tenMinutes)],
      [MINUTE, requested],
      [9.99 * MINUTE, requested],
      [10 * MINUTE, failed(2)],
      [10 * MINUTE, requested],
    ]
    const asking = { ...policy, mayPrompt: true }
    expect(playWith(asking, ...script).state.attempt).toEqual({ ticket: 3, reason: 'expired' })
    expect(playWith(policy, ...script).state.attempt).toBeUndefined()
    const first = playWith(asking, [0, requested], [0, failed(1)], [999, requested])
    expect(first.state.attempt).toBeUndefined()
  })

  it('delays the next run by no more than the longest pause if the clock is set back', () => {
    const { effects } = play([1e12, requested], [1e12, failed(1)], [0, requested])
    expect(effects).toEqual(['acquire 1', 'acquire 2'])
  })

  it('keeps the pauses that are possible if the clock is set back', () => {
    const longest = 1.2 * policy.backoffLimitMs
    const pauses = { pausedUntil: 1e12, aheadPausedUntil: longest, refusalsPausedUntil: 5 }
    const [state] = step({ ...emptyState<string>(), ...pauses }, { type: 'forget' }, 0, policy)
    expect(state).toMatchObject({ ...pauses, pausedUntil: Number.NEGATIVE_INFINITY })
  })
})

describe('a closed state', () => {
  it('retires the held credential, aborts the run, and stays closed', () => {
    const { state, effects } = play(
      [0, requested],
      [0, acquired(1, tenMinutes)],
      [0, rejected(1)],
      [0, { type: 'closed' }],
      [0, requested],
      [0, acquired(2)],
    )
    expect(effects).toEqual(['acquire 1', 'set-timer', 'acquire 2', 'retire 1', 'abort 2'])
    expect(verdict(state, 0)).toEqual({ is: 'closed' })
  })
})
