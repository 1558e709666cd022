import { describe, expect, it } from 'vitest'
import { backOff, maxBackOff } from '../../src/lifecycle/back-off.ts'

const limits = { backoffFirstMs: 1000, backoffLimitMs: 10_000 }

describe('the pause after failures', () => {
  it('doubles with each failure, up to the limit', () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((failures) => backOff(failures, limits))
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
  })

  it.each([
    {
      name: 'is the limit if the first pause would be longer',
      first: 20_000,
      failures: 1,
      ms: 10_000,
    },
    { name: 'is the limit after any number of failures', first: 1, failures: 5000, ms: 10_000 },
    { name: 'stays 0 if the first pause is 0', first: 0, failures: 5000, ms: 0 },
  ])('$name', ({ first, failures, ms }) => {
    expect(backOff(failures, { ...limits, backoffFirstMs: first })).toBe(ms)
  })

  it.each([1, 2, 9])('varies by a fifth with the jitter, after %i failures', (failures) => {
    const exact = backOff(failures, limits)
    expect(backOff(failures, limits, 1)).toBeCloseTo(1.2 * exact)
    expect(backOff(failures, limits, -1)).toBeCloseTo(0.8 * exact)
  })

  it('is never longer than maxBackOff', () => {
    expect(maxBackOff(limits)).toBe(backOff(9, limits, 1))
  })
})
