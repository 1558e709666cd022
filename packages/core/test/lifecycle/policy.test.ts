import { describe, expect, it } from 'vitest'
import { DEFAULT_LIFECYCLE, refreshTime } from '../../src/lifecycle/policy.ts'

const SECOND = 1000
const HOUR = 3_600_000
const DAY = 24 * HOUR

const aheadOf = (life: number, lastRunMs: number, jitter = 0): number =>
  life - refreshTime({ now: 0, expiresAt: life, lastRunMs, jitter }, DEFAULT_LIFECYCLE)

describe('the refresh window of a token', () => {
  it.each([
    { name: 'is a fifth of a short lifetime', life: 60 * SECOND, run: 0, window: 12 * SECOND },
    {
      name: 'leaves time for two slow runs',
      life: 60 * SECOND,
      run: 10 * SECOND,
      window: 20.5 * SECOND,
    },
    {
      name: 'is never more than half the lifetime',
      life: 5 * SECOND,
      run: 60 * SECOND,
      window: 2.5 * SECOND,
    },
    { name: 'is never more than five minutes', life: 10 * HOUR, run: 0, window: 300 * SECOND },
    {
      name: 'works for a plugin that takes 1 s and tokens that live for 5 s',
      life: 5 * SECOND,
      run: SECOND,
      window: 2.5 * SECOND,
    },
  ])('$name', ({ life, run, window }) => {
    expect(aheadOf(life, run)).toBeCloseTo(window)
  })

  it('varies by a tenth, so that many processes do not refresh in step', () => {
    expect(aheadOf(60 * SECOND, 0, 1)).toBeCloseTo(13.2 * SECOND)
    expect(aheadOf(60 * SECOND, 0, -1)).toBeCloseTo(10.8 * SECOND)
  })

  it('depends on the time that is left, not on the time of day', () => {
    const life = { now: HOUR, expiresAt: HOUR + 60 * SECOND, lastRunMs: 0, jitter: 0 }
    expect(refreshTime(life, DEFAULT_LIFECYCLE)).toBeCloseTo(HOUR + 48 * SECOND)
  })

  it.each([DEFAULT_LIFECYCLE.refreshAheadLimitMs, Number.POSITIVE_INFINITY])(
    'does not exist for a credential that does not expire, with a limit of %s ms',
    (refreshAheadLimitMs) => {
      const life = { now: 0, expiresAt: Number.POSITIVE_INFINITY, lastRunMs: 0, jitter: 0 }
      expect(refreshTime(life, { ...DEFAULT_LIFECYCLE, refreshAheadLimitMs })).toBe(
        Number.POSITIVE_INFINITY,
      )
    },
  )
})

describe('the refresh window of a certificate', () => {
  const at = (notAfter: number, expiresAt: number, lastRunMs = 0): number =>
    refreshTime(
      { now: 0, expiresAt, certificate: { notBefore: 0, notAfter }, lastRunMs, jitter: 0 },
      DEFAULT_LIFECYCLE,
    )

  it('is the last hundredth of its lifetime', () => {
    expect(at(100 * DAY, Number.POSITIVE_INFINITY)).toBeCloseTo(99.1 * DAY)
  })

  it('leaves time for two runs and ten seconds', () => {
    expect(at(HOUR, Number.POSITIVE_INFINITY, 30 * SECOND)).toBe(HOUR - 70 * SECOND)
  })

  it.each([
    ['20 min', 20 * 60 * SECOND],
    ['an hour', HOUR],
    ['8 hours', 8 * HOUR],
    ['a day', DAY],
    ['a year', 365 * DAY],
  ])(
    'begins within the last hundredth of %s, also if notAfter is given as the expiry',
    (_, life) => {
      for (const jitter of [-1, 0, 1]) {
        const left = (expiresAt: number): number =>
          life -
          refreshTime(
            {
              now: 0,
              expiresAt,
              certificate: { notBefore: 0, notAfter: life },
              lastRunMs: 0,
              jitter,
            },
            DEFAULT_LIFECYCLE,
          )
        expect(left(life)).toBeLessThanOrEqual(life / 100)
        expect(left(life)).toBeGreaterThanOrEqual(life / 125)
        expect(left(Number.POSITIVE_INFINITY)).toBe(left(life))
      }
    },
  )

  const from = (notBefore: number, now: number, lastRunMs: number, jitter: number): number => {
    const certificate = { notBefore, notAfter: notBefore + 100 * HOUR }
    const life = { now, expiresAt: Number.POSITIVE_INFINITY, certificate, lastRunMs, jitter }
    return certificate.notAfter - refreshTime(life, DEFAULT_LIFECYCLE)
  }

  it('depends on its lifetime, not on the date of its start', () => {
    expect(from(1000 * HOUR, 1000 * HOUR, 0, 0)).toBeCloseTo(0.9 * HOUR)
  })

  it('varies by a tenth, and never begins before the last hundredth', () => {
    expect(from(0, 0, 0, 1)).toBeCloseTo(0.8 * HOUR)
    expect(from(0, 0, 0, -1)).toBeCloseTo(HOUR)
    expect(from(0, 0, 2 * HOUR, 1)).toBeCloseTo(1.1 * (4 * HOUR + 10 * SECOND))
    expect(from(0, 0, 2 * HOUR, -1)).toBeCloseTo(0.9 * (4 * HOUR + 10 * SECOND))
  })

  it('is never more than half the time that is left', () => {
    expect(from(1000 * HOUR, 1099 * HOUR, 2 * HOUR, 0)).toBeCloseTo(0.5 * HOUR)
  })

  it('gives way to an earlier expiry', () => {
    expect(at(100 * DAY, HOUR)).toBe(HOUR - 300 * SECOND)
  })
})
