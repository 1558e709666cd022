import type { LoginError } from 'kubecred/errors'
import { describe, expect, it } from 'vitest'
import type { LoginContext } from '../../src/vault/login-handler.ts'
import { exactTime } from './exact-time.ts'
import { ask, good, server } from './one-handler.ts'
import { openScene, settle } from './vault-scene.ts'

const refusal = { status: 401, headers: {} }
const HOUR_MS = 3_600_000

const never = (): Promise<never> => new Promise(() => {})

describe('a handler that never returns', () => {
  it('delays requests no longer than their limit, is aborted by close(), and does not delay it', async () => {
    const seen: LoginContext[] = []
    const { vault, pass, answer, askAgain, clock } = ask((context) => {
      seen.push(context)
      return never()
    })
    const startedAt = clock.now()
    await pass(60_000)
    expect(await answer).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      message: expect.stringMatching(/within 60 s; odd has not finished/),
      hint: expect.stringContaining('timeoutMs'),
    })
    expect(clock.now() - startedAt).toBe(60_000)
    const second = askAgain()
    await pass(1000)
    // It is still running: it is not called a second time.
    expect(seen).toHaveLength(1)
    await vault.close()
    expect(await second).toMatchObject({ code: 'ERR_CLOSED' })
    expect(seen[0]?.signal.aborted).toBe(true)
  })

  it('is aborted after timeoutMs, called again for later requests, and may succeed then', async () => {
    const seen: LoginContext[] = []
    const { vault, pass, answer, askAgain } = ask(
      (context) => {
        seen.push(context)
        return seen.length < 2 ? never() : good
      },
      { timeoutMs: 5000 },
    )
    await pass(5020)
    expect(await answer).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    await pass(2000)
    expect(await askAgain()).toMatchObject({ authorization: 'Bearer good' })
    expect(seen.map(({ signal }) => signal.aborted)).toEqual([true, false])
    await vault.close()
  })

  it('does not delay what another returned', async () => {
    const { vault } = openScene({ never, quick: () => good })
    expect(await vault.lease()).toMatchObject({ authorization: 'Bearer good' })
    await vault.close()
  })
})

describe('a handler that ignores its signal', () => {
  it('is abandoned: what it returns after its time limit is dropped', async () => {
    const answers: ((info: typeof good) => void)[] = []
    const { vault, pass, answer, askAgain, events } = ask(
      () => new Promise((resolve) => answers.push(resolve)),
      { timeoutMs: 2000, attempts: 1 },
    )
    await pass(2500)
    expect(await answer).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    answers[0]?.({ server, token: 'late' })
    await settle()
    expect(events.map(({ type }) => type)).not.toContain('run-succeeded')
    await pass(1000)
    const next = askAgain()
    answers.at(-1)?.(good)
    await pass(1)
    expect(await next).toMatchObject({ authorization: 'Bearer good' })
    await vault.close()
  })

  it('changes nothing when it returns after close()', async () => {
    let finish: ((info: typeof good) => void) | undefined
    const { vault, answer, events } = ask(
      () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    )
    await settle()
    await vault.close()
    expect(await answer).toMatchObject({ code: 'ERR_CLOSED' })
    const countBefore = events.length
    finish?.(good)
    await settle()
    expect(() => vault.lease()).toThrow(/closed/)
    expect(vault.status()).toMatchObject({ state: 'closed', waiting: 0 })
    expect(events).toHaveLength(countBefore)
  })
})

describe('a handler that keeps returning the same refused credential', () => {
  it('is called less and less often, and so is the server, while requests never stop', async () => {
    let logins = 0
    let tries = 0
    const { vault, clock, events } = openScene({
      same: () => {
        logins += 1
        return good
      },
    })
    const { pass } = exactTime(clock)
    const failures: unknown[] = []
    const request = async (): Promise<void> => {
      const lease = await vault.lease()
      tries += 1
      vault.reject(lease, refusal)
    }
    for (let minute = 0; minute < 4 * 60; minute += 1) {
      void request().catch((error: unknown) => failures.push(error))
      await pass(60_000)
    }
    // 30 s, 1, 2, 4, 8 min, then every 10: about 28 in four hours.
    expect(tries).toBeGreaterThan(20)
    expect(tries).toBeLessThan(35)
    // 1, 2, 4 … 256 s, then every 5 min, and one more after each try: about 60.
    expect(logins).toBeGreaterThan(20)
    expect(logins).toBeLessThan(90)
    expect(failures.length).toBeGreaterThan(100)
    expect(new Set(failures.map((error) => (error as LoginError).code))).toEqual(
      new Set(['ERR_LOGIN_FAILED']),
    )
    // The number of events stays in proportion to what happens.
    expect(events.length).toBeLessThan(20 * (logins + tries + failures.length))
    await vault.close()
  })

  it('costs nothing while there are no requests', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      same: () => {
        logins += 1
        return good
      },
    })
    const { pass } = exactTime(clock)
    vault.reject(await vault.lease(), refusal)
    await pass(10_000)
    const before = logins
    await pass(HOUR_MS)
    expect(logins).toBe(before)
    await vault.close()
  })
})
