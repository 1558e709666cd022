import type { Clock } from '../ports/clock.ts'

/**
 * A clock whose time only moves when a test calls `advance()` or `jumpTo()`.
 *
 * @experimental
 *
 * @example
 * const clock = new FakeClock()
 * clock.after(1000, () => console.log('one second later'))
 * clock.advance(1000)
 */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<{ at: number; callback: () => void }>()

  constructor(now = 0) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  parseDate(text: string): number {
    return Date.parse(text)
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  afterRef(milliseconds: number, callback: () => void): () => void {
    return this.after(milliseconds, callback)
  }

  /** Moves time forward and calls the timers that become due, in order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
    }
    this.#now = end
  }

  /** Sets the wall clock forward or back without calling any timer, as an administrator does. */
  jumpTo(now: number): void {
    this.#now = now
  }
}
