import { describe, expect, it } from 'vitest'
import type { CredentialEvent } from '../../src/ports/observer.ts'
import { TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from './vault-scene.ts'
import { pass } from './visibility-time.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const START = 1_000_000_000

const typesOf = (events: readonly CredentialEvent[]) => events.map(({ type }) => type)
const only = <T extends CredentialEvent['type']>(events: readonly CredentialEvent[], type: T) =>
  events.filter((event) => event.type === type) as Extract<CredentialEvent, { type: T }>[]

describe('the events of a vault', () => {
  it('report a first login in order: started, frozen, logged in, thawed', async () => {
    const { vault, events } = openScene({
      corp: () => ({ server, token: 't', priority: 7, expiration: new Date(START + 600_000) }),
    })
    await vault.lease()
    expect(typesOf(events)).toEqual([
      'attached',
      'attached',
      'run-started',
      'frozen',
      'logged-in',
      'run-succeeded',
      'thawed',
    ])
    expect(only(events, 'logged-in')).toEqual([
      {
        type: 'logged-in',
        source: { kind: 'login', name: 'corp' },
        reason: 'first',
        server,
        attempts: 1,
        tookMs: 0,
        expiresAt: START + 600_000,
        parts: ['token'],
        priority: 7,
      },
    ])
    await vault.close()
  })

  it('count attempts and time of a login that took several', async () => {
    const { vault, clock, events } = openScene({
      busy: ({ attempt }) => {
        if (attempt < 3) throw new TemporaryError('busy', { delayMs: 2000 })
        return { server, token: 't' }
      },
    })
    const lease = vault.lease()
    await pass(clock, 5)
    await lease
    expect(only(events, 'login-retried').map(({ nextTryAt }) => nextTryAt)).toEqual([
      START + 2000,
      START + 4000,
    ])
    expect(only(events, 'logged-in')).toMatchObject([{ attempts: 3, tookMs: 4000 }])
    await vault.close()
  })

  it('report a refusal once, with handler and server, then the depletion, then the new login', async () => {
    const tokens = ['one', 'two']
    const { vault, events } = openScene({ corp: () => ({ server, token: tokens.shift() ?? 'x' }) })
    const first = await vault.lease()
    events.length = 0
    await vault.replace(first, { status: 401, headers: {} })
    expect(typesOf(events)).toEqual([
      'refused',
      'depleted',
      'run-started',
      'frozen',
      'logged-in',
      'retired',
      'run-succeeded',
      'thawed',
    ])
    expect(events[0]).toEqual({
      type: 'refused',
      source: { kind: 'login', name: 'corp' },
      status: 401,
      server,
      excludedUntil: START + 30_000,
    })
    expect(only(events, 'logged-in')).toMatchObject([{ reason: 'depleted' }])
    await vault.close()
  })

  it('report depletion, freeze and refusal once, however long it lasts and however often handlers run', async () => {
    const { vault, clock, events } = openScene({ same: () => ({ server, token: 'same' }) })
    const first = await vault.lease()
    vault.accept(first)
    events.length = 0
    vault.reject(first, refusal)
    const waiting = [vault.lease(), vault.lease()]
    await pass(clock, 25)
    const runs = only(events, 'run-started').length
    expect(runs).toBeGreaterThan(2)
    expect(only(events, 'refused')).toHaveLength(1)
    expect(only(events, 'depleted')).toHaveLength(1)
    expect(only(events, 'frozen')).toHaveLength(1)
    expect(only(events, 'thawed')).toEqual([])
    // The exclusion ends: one tries it, and the server takes it. Only now the others may go on.
    await pass(clock, 7)
    vault.accept(await Promise.race(waiting))
    // At once: no request waits for a credential that is accepted again.
    await Promise.all(waiting)
    expect(only(events, 'depleted')).toHaveLength(1)
    expect(only(events, 'thawed')).toHaveLength(1)
    await vault.close()
  })

  it('report a thaw when a server accepts a refused credential, not when a request tries it', async () => {
    const { vault, clock, events } = openScene({ same: () => ({ server, token: 'same' }) })
    vault.reject(await vault.lease(), refusal)
    const waiting = vault.lease()
    await pass(clock, 31)
    const tried = await waiting
    expect(only(events, 'thawed')).toHaveLength(1)
    vault.accept(tried)
    expect(only(events, 'thawed')).toHaveLength(2)
    expect(vault.status()).not.toHaveProperty('frozenSince')
    await vault.close()
  })

  it('report an expired credential before the login that follows', async () => {
    let logins = 0
    const { vault, clock, events } = openScene({
      short: () => {
        logins += 1
        return { server, token: `t${logins}`, expiration: new Date(clock.now() + 60_000) }
      },
    })
    await vault.lease()
    events.length = 0
    clock.jumpTo(START + 61_000)
    await vault.lease()
    expect(typesOf(events)).toEqual([
      'expired',
      'depleted',
      'retired',
      'run-started',
      'frozen',
      'logged-in',
      'run-succeeded',
      'thawed',
    ])
    expect(events[0]).toEqual({
      type: 'expired',
      source: { kind: 'login', name: 'short' },
      server,
      expiresAt: START + 60_000,
    })
    await vault.close()
  })

  it('report an expiry during a login ahead of it, or with its end if the clock was set forward', async () => {
    for (const isSetForward of [false, true]) {
      const { vault, clock, events, answer } = openSlow()
      await vault.lease()
      await settle()
      await vault.lease()
      await pass(clock, isSetForward ? 50 : 70)
      if (isSetForward) clock.jumpTo(START + 70_000)
      expect(only(events, 'expired')).toHaveLength(isSetForward ? 0 : 1)
      answer()
      await settle()
      expect(only(events, 'expired')).toMatchObject([{ source: { name: 'slow' } }])
      expect(only(events, 'depleted')).toEqual([])
      await vault.close()
    }
  })

  /** A login for a minute whose renewal waits for the test, and another one. */
  function openSlow() {
    let answer: (() => void) | undefined
    let logins = 0
    const scene = openScene({
      slow: () => {
        logins += 1
        const info = {
          server,
          token: `t${logins}`,
          expiration: new Date(scene.clock.now() + 60_000),
        }
        return logins === 1 ? info : new Promise((resolve) => (answer = () => resolve(info)))
      },
      other: () => ({ server, token: 'other', priority: -1 }),
    })
    return { ...scene, answer: () => answer?.() }
  }

  it('report no expiry if a credential is replaced in time, or the vault is closed', async () => {
    let logins = 0
    const { vault, clock, events } = openScene({
      short: () => {
        logins += 1
        return { server, token: `t${logins}`, expiration: new Date(clock.now() + 60_000) }
      },
    })
    for (let second = 0; second < 200; second += 1) {
      await vault.lease()
      await pass(clock, 1)
    }
    await vault.close()
    expect(logins).toBeGreaterThan(3)
    expect(only(events, 'logged-in')).toHaveLength(logins)
    expect(only(events, 'retired').length).toBeGreaterThan(2)
    expect(only(events, 'expired')).toEqual([])
    expect(only(events, 'depleted')).toEqual([])
  })

  it('report a thaw even if all waiting requests have given up', async () => {
    let isUp = false
    const { vault, clock, events } = openScene(
      {
        late: () => {
          if (!isUp) throw new TemporaryError('not yet', { delayMs: 5000 })
          return { server, token: 't' }
        },
      },
      { freezeLimitMs: 2000 },
    )
    const failed = Promise.resolve(vault.lease()).catch((error: unknown) => error)
    await pass(clock, 3)
    expect(await failed).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    isUp = true
    await pass(clock, 4)
    expect(typesOf(events).slice(-4)).toEqual(['failed', 'logged-in', 'run-succeeded', 'thawed'])
    expect(only(events, 'thawed')).toMatchObject([{ frozenMs: 5000 }])
    // The next time is another time.
    vault.reject(await vault.lease(), refusal)
    isUp = false
    const again = Promise.resolve(vault.lease()).catch(() => {})
    await pass(clock, 3)
    await again
    expect(only(events, 'frozen')).toHaveLength(2)
    await vault.close()
  })
})
