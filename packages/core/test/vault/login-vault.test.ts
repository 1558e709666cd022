import { describe, expect, it } from 'vitest'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from './vault-scene.ts'

const server = 'https://one.test'
const refusal = { code: 401, header: {} }

describe('a vault', () => {
  it('logs in when somebody asks, once for all who ask', async () => {
    let logins = 0
    const { vault } = openScene({
      corp: async () => {
        logins += 1
        return { server, token: `t${logins}` }
      },
    })
    expect(logins).toBe(0)
    const leases = await Promise.all(Array.from({ length: 20 }, () => vault.lease()))
    expect(new Set(leases.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer t1']),
    )
    expect(logins).toBe(1)
    await vault.close()
  })

  it('goes on to the next credential after a refusal, then waits for the re-login', async () => {
    const tokens = { a: ['a1', 'a2'], b: ['b1'] }
    const { vault, clock } = openScene({
      a: async () => ({ server, token: tokens.a.shift() ?? 'a9', priority: 5 }),
      b: [async () => ({ server, token: tokens.b.shift() ?? 'b1' }), {}],
    })
    const first = await vault.lease()
    await settle()
    expect(first.authorization).toBe('Bearer a1')
    // The refusal starts a login of its own; the other credential serves meanwhile.
    vault.reject(first, refusal)
    expect((await vault.lease()).authorization).toBe('Bearer b1')
    await settle()
    expect((await vault.lease()).authorization).toBe('Bearer a2')
    clock.advance(1)
    await vault.close()
  })

  it('freezes when nothing is left, and thaws with the first good answer', async () => {
    let answer: ((token: string) => void) | undefined
    let count = 0
    const { vault, events } = openScene({
      slow: () =>
        new Promise((resolve) => {
          count += 1
          if (count === 1) resolve({ server, token: 'first' })
          else answer = (token) => resolve({ server, token })
        }),
    })
    const first = await vault.lease()
    const next = vault.replace(first, refusal)
    await settle()
    expect(events.map(({ type }) => type)).toContain('depleted')
    expect(events.map(({ type }) => type)).toContain('frozen')
    answer?.('second')
    expect((await next)?.authorization).toBe('Bearer second')
    expect(events.at(-1)?.type).toBe('thawed')
    await vault.close()
  })

  it('gives up with what every handler said when the limit of a request passes, and heals later', async () => {
    let isUp = false
    const { vault, clock, events } = openScene({
      nothing: async () => undefined,
      broken: async () => {
        if (isUp) return { server, token: 'good' }
        throw new PermanentError('the door is locked')
      },
    })
    const waiting = Promise.resolve(vault.lease()).catch((error: unknown) => error)
    for (let second = 0; second < 61; second += 1) {
      await settle()
      clock.advance(1000)
    }
    const error = await waiting
    expect(error).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      outcomes: [
        { handler: 'nothing', result: 'nothing' },
        { handler: 'broken', result: 'failed', reason: 'the door is locked' },
      ],
    })
    expect(events.map(({ type }) => type)).toContain('failed')
    isUp = true
    const healed = Promise.resolve(vault.lease())
    for (let second = 0; second < 400; second += 10) {
      await settle()
      clock.advance(10_000)
    }
    expect((await healed).authorization).toBe('Bearer good')
    await vault.close()
  })

  it('does not use a refused credential again before its exclusion ends, then one request tries it', async () => {
    const { vault, clock } = openScene({ same: async () => ({ server, token: 'same' }) })
    const first = await vault.lease()
    vault.reject(first, refusal)
    let isDone = false
    const next = Promise.resolve(vault.lease()).then((lease) => {
      isDone = true
      return lease
    })
    for (let second = 0; second < 29; second += 1) {
      await settle()
      clock.advance(1000)
    }
    expect(isDone).toBe(false)
    clock.advance(1500)
    await settle()
    expect((await next).authorization).toBe('Bearer same')
    await vault.close()
  })

  it('asks a handler again after the pause that it asked for', async () => {
    const attempts: number[] = []
    const { vault, clock } = openScene({
      busy: async ({ attempt, elapsedMs }) => {
        attempts.push(elapsedMs)
        if (attempt < 3) throw new TemporaryError('busy', { delayMs: 5000 })
        return { server, token: 'late' }
      },
    })
    const lease = vault.lease()
    for (let second = 0; second < 12; second += 1) {
      await settle()
      clock.advance(1000)
    }
    expect((await lease).authorization).toBe('Bearer late')
    expect(attempts).toEqual([0, 5000, 10_000])
    await vault.close()
  })

  it('ends those who wait when it is closed', async () => {
    const { vault } = openScene({ never: () => new Promise(() => {}) })
    const waiting = Promise.resolve(vault.lease())
    await vault.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(() => vault.lease()).toThrow(/closed/)
  })
})
