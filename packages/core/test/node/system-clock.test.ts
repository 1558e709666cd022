import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/node/system-clock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DAY_MS = 86_400_000

describe.each(['after', 'afterRef'] as const)('%s', (way) => {
  it('waits for the whole delay, also beyond the limit of one timer', async () => {
    const called = vi.fn()
    systemClock[way](60 * DAY_MS, called)
    await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1)
    expect(called).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(called).toHaveBeenCalledOnce()
  })

  it('can be cancelled, also in a later step', async () => {
    const called = vi.fn()
    const cancel = systemClock[way](60 * DAY_MS, called)
    await vi.advanceTimersByTimeAsync(30 * DAY_MS)
    cancel()
    await vi.advanceTimersByTimeAsync(60 * DAY_MS)
    expect(called).not.toHaveBeenCalled()
  })
})
