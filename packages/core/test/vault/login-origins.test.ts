import { describe, expect, it } from 'vitest'
import { VAULT_LOAD, type VaultLoad } from '../../src/ports/observer.ts'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from './vault-scene.ts'

const here = 'https://one.test'
const there = 'https://two.test/path'
const refusal = { status: 401, headers: {} }
const settled = (lease: unknown) => Promise.resolve(lease).catch((error: unknown) => error)

describe('a request for one server', () => {
  const at = (origin: string) => ({ origin })

  it('gets a credential for that server, also if another has a higher priority', async () => {
    const { vault } = openScene({
      one: () => ({ server: here, token: 'one' }),
      two: () => ({ server: there, token: 'two', priority: 5 }),
    })
    await vault.lease()
    await settle()
    expect(await vault.lease(undefined, at(here))).toMatchObject({ authorization: 'Bearer one' })
    expect(await vault.lease(undefined, at('https://two.test'))).toMatchObject({
      authorization: 'Bearer two',
    })
    await vault.close()
  })

  it('fails at once if all logins are for others, or returned nothing', async () => {
    const { vault } = openScene({
      two: () => ({ server: there, token: 'two' }),
      none: () => undefined,
    })
    await vault.lease()
    await settle()
    expect(await settled(vault.lease(undefined, at(here)))).toMatchObject({
      code: 'ERR_FOREIGN_ORIGIN',
      message: expect.stringContaining(`no login is for ${here}`),
    })
    expect(vault.status().waiting).toBe(0)
    await vault.close()
  })

  it('waits if another handler failed or is running, which may be for that server', async () => {
    let answer: (() => void) | undefined
    const { vault } = openScene({
      two: () => ({ server: there, token: 'two' }),
      slow: () =>
        new Promise((resolve) => (answer = () => resolve({ server: here, token: 'one' }))),
    })
    await vault.lease()
    await settle()
    const waiting = vault.lease(undefined, at(here))
    await settle()
    expect(vault.status().waiting).toBe(1)
    answer?.()
    expect((await waiting).authorization).toBe('Bearer one')
    await vault.close()
  })

  it('waits if no handler is logged in anywhere', async () => {
    const { vault, clock } = openScene({ none: () => undefined })
    const waiting = settled(vault.lease(undefined, at(here)))
    await settle()
    clock.advance(20)
    expect(await waiting).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      message: expect.stringContaining(`could log in at ${here}`),
    })
    await vault.close()
  })

  it('waits for a handler whose login for that server has expired, and that returned nothing since', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      two: () => ({ server: there, token: 'two' }),
      short: () => {
        logins += 1
        const expiration = new Date(clock.now() + 5000)
        return logins === 1 ? { server: here, token: 'one', expiration } : undefined
      },
    })
    await vault.lease()
    await settle()
    clock.advance(6000)
    expect((await vault.lease()).authorization).toBe('Bearer two')
    await settle()
    expect(logins).toBe(2)
    const answer = settled(vault.lease(undefined, at(here)))
    await settle()
    clock.advance(20)
    expect(await answer).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    await vault.close()
  })
})

describe('the first login', () => {
  const grace = { priorityGraceMs: 250 }

  it('gives way to one of a higher priority that comes a moment later', async () => {
    const { vault, clock } = openScene(
      {
        low: () => ({ server: here, token: 'low' }),
        high: () =>
          new Promise((resolve) =>
            clock.after(100, () => resolve({ server: here, token: 'high', priority: 5 })),
          ),
      },
      grace,
    )
    const first = Promise.resolve(vault.lease())
    await settle()
    expect(vault.status().waiting).toBe(1)
    clock.advance(100)
    expect((await first).authorization).toBe('Bearer high')
    await vault.close()
  })

  it('is used at once if the other is not in its first attempt any more', async () => {
    const { vault } = openScene(
      {
        busy: () => {
          throw new TemporaryError('busy', { delayMs: 100 })
        },
        low: () => ({ server: here, token: 'low' }),
      },
      grace,
    )
    expect((await vault.lease()).authorization).toBe('Bearer low')
    await vault.close()
  })
})

describe('a vault', () => {
  it('is renewed if one of its handlers is, and fails with the first error otherwise', async () => {
    let isUp = true
    const { vault } = openScene({
      locked: () => {
        throw new PermanentError('locked')
      },
      corp: () => {
        if (isUp) return { server: here, token: 'one' }
        throw new PermanentError('down')
      },
    })
    await vault.renew()
    expect((await vault.lease()).authorization).toBe('Bearer one')
    isUp = false
    await expect(vault.renew()).rejects.toMatchObject({
      outcomes: [{ handler: 'locked', reason: 'locked' }],
    })
    await vault.close()
  })

  it('tells metrics how many requests wait, and how many credentials are excluded', async () => {
    let logins = 0
    const { vault } = openScene({
      one: () => ({ server: here, token: 'one' }),
      two: () => {
        logins += 1
        return logins === 1 ? { server: here, token: 'two' } : new Promise(() => {})
      },
    })
    const load = () => (vault.label as unknown as Record<symbol, () => VaultLoad>)[VAULT_LOAD]?.()
    await vault.lease()
    await settle()
    expect(load()).toEqual({ waiting: 0, excluded: 0, isFrozen: false })
    for (let time = 0; time < 2; time += 1) vault.reject(await vault.lease(), refusal)
    void settled(vault.lease())
    await settle()
    expect(load()).toEqual({ waiting: 1, excluded: 2, isFrozen: true })
    expect(vault.status().logins.map(({ refusals }) => refusals)).toEqual([1, 1])
    await vault.close()
  })
})
