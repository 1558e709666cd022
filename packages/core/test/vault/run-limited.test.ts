import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { pause, runLimited, TimeLimitError } from '../../src/vault/log-in.ts'

/** A clock that counts its pending timers. */
class CountingClock extends FakeClock {
  pending = 0

  override after(milliseconds: number, callback: () => void): () => void {
    let isPending = true
    const end = (): void => {
      if (isPending) this.pending -= 1
      isPending = false
    }
    this.pending += 1
    const cancel = super.after(milliseconds, () => {
      end()
      callback()
    })
    return () => {
      end()
      cancel()
    }
  }
}

function scene(limitMs: number) {
  const life = new AbortController()
  const clock = new CountingClock(0)
  return { life, clock, options: { limitMs, signal: life.signal, clock } }
}

const never = () => new Promise<never>(() => {})

describe('work with a time limit', () => {
  it('returns its result, and leaves no timer behind', async () => {
    const { clock, options } = scene(1000)
    expect(await runLimited(async () => 5, options)).toBe(5)
    expect(clock.pending).toBe(0)
  })

  it('fails with its own error, also if it throws at once', async () => {
    const { clock, options } = scene(1000)
    const thrown = new Error('broken')
    const work = (): never => {
      throw thrown
    }
    await expect(runLimited(work, options)).rejects.toBe(thrown)
    expect(clock.pending).toBe(0)
  })

  it('is aborted when its time is over', async () => {
    const { clock, options } = scene(1000)
    let own: AbortSignal | undefined
    const ended = runLimited((signal) => {
      own = signal
      return never()
    }, options)
    clock.advance(999)
    expect(own?.aborted).toBe(false)
    clock.advance(1)
    await expect(ended).rejects.toBeInstanceOf(TimeLimitError)
    expect(own?.aborted).toBe(true)
  })

  it('sets no timer without a limit, and does not begin if there is no time', async () => {
    const endless = scene(Number.POSITIVE_INFINITY)
    const running = runLimited(never, endless.options)
    expect(endless.clock.pending).toBe(0)
    endless.life.abort(new Error('closed'))
    await expect(running).rejects.toThrow('closed')
    for (const limitMs of [0, -1]) {
      let hasBegun = false
      const begin = () => {
        hasBegun = true
      }
      await expect(runLimited(begin, scene(limitMs).options)).rejects.toBeInstanceOf(TimeLimitError)
      expect(hasBegun).toBe(false)
    }
  })

  it('does not begin if the signal is already aborted, and ends with its reason later', async () => {
    const { life, clock, options } = scene(1000)
    const ended = runLimited(never, options)
    const closed = new Error('closed')
    life.abort(closed)
    await expect(ended).rejects.toBe(closed)
    expect(clock.pending).toBe(0)
    let hasBegun = false
    const begin = () => {
      hasBegun = true
    }
    await expect(runLimited(begin, options)).rejects.toBe(closed)
    expect(hasBegun).toBe(false)
  })
})

describe('a pause', () => {
  it('ends after its time', async () => {
    const { clock, life } = scene(0)
    let isOver = false
    const paused = pause(1000, life.signal, clock).then(() => {
      isOver = true
    })
    clock.advance(999)
    await Promise.resolve()
    expect(isOver).toBe(false)
    clock.advance(1)
    await paused
    life.abort(new Error('too late'))
  })

  it('ends with the reason of the signal, before or after it began, and leaves no timer', async () => {
    const { clock, life } = scene(0)
    const closed = new Error('closed')
    const paused = pause(1000, life.signal, clock)
    life.abort(closed)
    await expect(paused).rejects.toBe(closed)
    await expect(pause(1000, life.signal, clock)).rejects.toBe(closed)
    expect(clock.pending).toBe(0)
  })
})
