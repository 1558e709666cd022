import { describe, expect, it } from 'vitest'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from './vault-scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }

describe('a vault', () => {
  it('logs in on the first request, once for all requests', async () => {
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

  it('uses the next credential after a refusal, then waits for the next login', async () => {
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

  it('freezes if no credential is left, and thaws with the first usable one', async () => {
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

  it('fails at once with the outcome of every handler when all logins have ended, and recovers later', async () => {
    let isUp = false
    let calls = 0
    const { vault, clock, events } = openScene({
      nothing: async () => undefined,
      broken: async () => {
        calls += 1
        if (isUp) return { server, token: 'good' }
        throw new PermanentError('the door is locked')
      },
    })
    const ask = async (): Promise<unknown> => {
      const answer = Promise.resolve(vault.lease()).catch((error: unknown) => error)
      await settle()
      clock.advance(20)
      return answer
    }
    const failure = {
      code: 'ERR_LOGIN_FAILED',
      outcomes: [
        { handler: 'nothing', result: 'nothing' },
        { handler: 'broken', result: 'failed', reason: 'the door is locked' },
      ],
    }
    expect(await ask()).toMatchObject(failure)
    expect(events.map(({ type }) => type)).toContain('failed')
    clock.advance(500)
    expect(await ask()).toMatchObject(failure)
    expect(calls).toBe(1)
    isUp = true
    clock.advance(1000)
    expect(await ask()).toMatchObject({ authorization: 'Bearer good' })
    expect(calls).toBe(2)
    await vault.close()
  })

  it('waits for a slow login, and does not call a failed handler again meanwhile', async () => {
    const calls = { refuser: 0, busy: 0, slow: 0 }
    const { vault, clock } = openScene({
      refuser: async () => {
        calls.refuser += 1
        throw new PermanentError('wrong password')
      },
      busy: [
        async () => {
          calls.busy += 1
          throw new TemporaryError('busy', { delayMs: 1000 })
        },
        { attempts: 3 },
      ],
      slow: () => {
        calls.slow += 1
        return new Promise((resolve) =>
          clock.after(20_000, () => resolve({ server, token: 'slow' })),
        )
      },
    })
    const lease = Promise.resolve(vault.lease())
    for (let second = 0; second < 20; second += 1) {
      await settle()
      expect(vault.status().waiting).toBe(1)
      clock.advance(1000)
    }
    expect(calls).toEqual({ refuser: 1, busy: 3, slow: 1 })
    expect((await lease).authorization).toBe('Bearer slow')
    await vault.close()
  })

  it('fails with the outcome of every handler when a request reaches its limit', async () => {
    const { vault, clock } = openScene({
      nothing: async () => undefined,
      hangs: () => new Promise(() => {}),
    })
    const waiting = Promise.resolve(vault.lease()).catch((error: unknown) => error)
    await settle()
    clock.advance(59_999)
    await settle()
    expect(vault.status().waiting).toBe(1)
    clock.advance(1)
    expect(await waiting).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      message: expect.stringContaining('no login within 60 s'),
      outcomes: [
        { handler: 'nothing', result: 'nothing' },
        { handler: 'hangs', result: 'running' },
      ],
    })
    await vault.close()
  })

  it('fails a request that no handler can serve, even if another login ends meanwhile', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      here: async () => {
        throw new PermanentError('the door is locked')
      },
      elsewhere: async () => {
        logins += 1
        return { server: 'https://two.test', token: `t${logins}` }
      },
    })
    const first = await vault.lease()
    await settle()
    const failure = Promise.resolve(vault.lease(undefined, { origin: server })).catch(
      (error: unknown) => error,
    )
    clock.advance(15)
    vault.reject(first, refusal)
    await settle()
    expect(logins).toBe(2)
    clock.advance(5)
    await settle()
    expect(vault.status().waiting).toBe(0)
    expect(await failure).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    await vault.close()
  })

  it('waits for a handler that still tries after its login at another server has expired', async () => {
    let answer: (() => void) | undefined
    const { vault, clock } = openScene({
      moves: ({ reason }) =>
        new Promise((resolve) => {
          answer = () => resolve({ server, token: 'second' })
          const expiration = new Date(clock.now() + 5000)
          if (reason === 'first')
            resolve({ server: 'https://two.test', token: 'first', expiration })
        }),
    })
    const first = await vault.lease()
    clock.advance(5000)
    // Late: then the keeper still holds what has expired, and the vault must not count it.
    vault.reject(first, refusal)
    const second = vault.lease(undefined, { origin: server })
    await settle()
    clock.advance(1000)
    await settle()
    expect(vault.status().waiting).toBe(1)
    answer?.()
    expect((await second).authorization).toBe('Bearer second')
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

  it('uses the first login when the grace period ends, even while requests for another server arrive', async () => {
    const { vault, clock } = openScene(
      {
        ready: async () => ({ server, token: 'ready' }),
        slow: () => new Promise(() => {}),
      },
      { priorityGraceMs: 250 },
    )
    const ask = (origin: string) =>
      Promise.resolve(vault.lease(undefined, { origin })).catch((error: unknown) => error)
    const first = ask(server)
    await settle()
    const others = [ask('https://two.test')]
    clock.advance(240)
    others.push(ask('https://two.test'))
    clock.advance(20)
    await settle()
    expect(vault.status().waiting).toBe(2)
    expect(await first).toMatchObject({ authorization: 'Bearer ready' })
    await vault.close()
    await Promise.all(others)
  })

  it('calls a handler again after the pause that it asked for', async () => {
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

  it('rejects waiting requests when it is closed', async () => {
    const { vault } = openScene({ never: () => new Promise(() => {}) })
    const waiting = Promise.resolve(vault.lease())
    await vault.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(() => vault.lease()).toThrow(/closed/)
  })
})
