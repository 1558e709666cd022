import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { settle } from './vault-scene.ts'

/**
 * Moves a fake clock from timer to timer, and lets everything settle at each of them.
 *
 * What happens between two timers then happens at its own time, as it would with a real clock. Call it before
 * anything sets a timer.
 */
export function exactTime(clock: FakeClock): {
  /** @param onMoment Called whenever everything has settled. */
  pass(milliseconds: number, onMoment?: () => void): Promise<void>
} {
  const due = new Set<{ readonly at: number }>()
  const after = clock.after.bind(clock)
  clock.after = (milliseconds, callback) => {
    const timer = { at: clock.now() + milliseconds }
    due.add(timer)
    const cancel = after(milliseconds, () => {
      due.delete(timer)
      callback()
    })
    return () => {
      due.delete(timer)
      cancel()
    }
  }
  const next = (): number => Math.min(...[...due].map(({ at }) => at))
  return {
    async pass(milliseconds, onMoment) {
      const end = clock.now() + milliseconds
      for (;;) {
        await settle()
        await settle()
        const isDue = next() <= clock.now()
        if (!isDue) onMoment?.()
        if (!isDue && clock.now() >= end) return
        clock.advance(Math.max(Math.min(next(), end) - clock.now(), 0))
      }
    },
  }
}
