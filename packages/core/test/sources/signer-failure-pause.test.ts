import { describe, expect, it } from 'vitest'
import { SignerResponseInvalidError } from '../../src/errors/index.ts'
import { FailurePause } from '../../src/sources/signer-device.ts'

describe('the pause after a failed signature', () => {
  it('doubles with each failure, up to the limit, and starts over after a signature', () => {
    const limits = { backoffFirstMs: 1000, backoffLimitMs: 5000 }
    let now = 0
    const pause = new FailurePause(
      limits,
      () => now,
      () => 0,
    )
    const fail = (): number => {
      const error = new SignerResponseInvalidError('one', 'answered nothing')
      pause.failed(error)
      const until = error.nextTryAt ?? 0
      const pauseMs = until - now
      now = until - 1
      expect(() => pause.check(pause.ticket)).toThrow(error)
      now = until
      expect(() => pause.check(pause.ticket)).not.toThrow()
      return pauseMs
    }
    expect([fail(), fail(), fail(), fail()]).toEqual([1000, 2000, 4000, 5000])
    pause.succeeded()
    expect(fail()).toBe(1000)
  })
})
