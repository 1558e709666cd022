// After kopf's tests/authentication/test_vault.py; docs/kopf.md has the table.
import { describe, expect, it } from 'vitest'
import type { LoginHandler } from '../../../src/vault/login-handler.ts'
import { openScene, settle } from '../vault-scene.ts'
import { outcome, passTime } from './pass-time.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }

/** Answers with these in turn, then with nothing. */
function answers(...infos: readonly Awaited<ReturnType<LoginHandler>>[]): LoginHandler {
  const left = [...infos]
  return () => left.shift()
}

describe('a new vault', () => {
  it('is empty, and calls no handler before the first request', async () => {
    const { vault, events } = openScene({ one: () => ({ server, token: 't' }) })
    expect(vault.isDepleted).toBe(true)
    await settle()
    expect(vault.status()).toMatchObject({ runs: 0, waiting: 0, logins: [{ state: 'empty' }] })
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['attached']))
    await vault.close()
  })

  it('is not empty once a handler has logged in', async () => {
    const { vault } = openScene({ one: () => ({ server, token: 't' }) })
    await vault.lease()
    expect(vault.isDepleted).toBe(false)
    expect(vault.status()).toMatchObject({ state: 'ready', runs: 1 })
    await vault.close()
  })

  it('fails with a LoginError if no handler returns anything', async () => {
    const { vault, clock } = openScene({ one: () => undefined })
    const asked = outcome(vault.lease())
    await passTime(clock, 1)
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expect(vault.status().waiting).toBe(0)
    await vault.close()
  })

  it('returns what the handler returned, as the same lease for all requests', async () => {
    const { vault } = openScene({ one: answers({ server, token: 't', defaultNamespace: 'ns' }) })
    const lease = await vault.lease()
    expect(lease).toMatchObject({
      authorization: 'Bearer t',
      endpoint: { cluster: { server }, namespace: 'ns' },
    })
    expect(await vault.lease()).toBe(lease)
    await vault.close()
  })
})

describe('a waiting request', () => {
  it('can be aborted at once without affecting the others', async () => {
    let answer: ((token: string) => void) | undefined
    const { vault } = openScene({
      slow: () => new Promise((resolve) => (answer = (token) => resolve({ server, token }))),
    })
    const leaving = new AbortController()
    const hasty = outcome(vault.lease(leaving.signal))
    const patient = vault.lease()
    const reason = new Error('enough')
    leaving.abort(reason)
    expect(await hasty).toBe(reason)
    expect(vault.status().waiting).toBe(1)
    answer?.('t')
    expect((await patient).authorization).toBe('Bearer t')
    await vault.close()
  })
})

describe('expiration', () => {
  it('is not reached one millisecond early', async () => {
    const { vault, clock } = openScene({
      one: answers({ server, token: 't', expiration: new Date(1_000_010_000) }),
    })
    await vault.lease()
    clock.jumpTo(1_000_009_999)
    expect((await vault.lease()).authorization).toBe('Bearer t')
    await vault.close()
  })

  it.each([0, 1])(
    'leaves out a credential that expired %i ms ago, whatever its priority',
    async (late) => {
      const { vault, clock } = openScene({
        short: answers({ server, token: 'a', priority: 9, expiration: new Date(1_000_010_000) }),
        long: answers({ server, token: 'b' }),
      })
      await vault.lease()
      await settle()
      expect((await vault.lease()).authorization).toBe('Bearer a')
      clock.jumpTo(1_000_010_000 + late)
      expect((await vault.lease()).authorization).toBe('Bearer b')
      await vault.close()
    },
  )

  it.each([0, 1])(
    'of all credentials, %i ms ago, is a LoginError if there is no new login',
    async (late) => {
      const { vault, clock } = openScene({
        one: answers({ server, token: 'a', expiration: new Date(1_000_010_000) }),
      })
      await vault.lease()
      clock.jumpTo(1_000_010_000 + late)
      const asked = outcome(vault.lease())
      await passTime(clock, 61)
      expect(await asked).toMatchObject({ outcomes: [{ handler: 'one', result: 'nothing' }] })
      await vault.close()
    },
  )
})

describe('a refusal', () => {
  it('is a LoginError that names it, if no credential is left', async () => {
    const { vault, clock } = openScene(
      { one: () => ({ server, token: 'same' }) },
      { freezeLimitMs: 10_000 },
    )
    const replaced = outcome(vault.replace(await vault.lease(), refusal))
    await passTime(clock, 11)
    expect(await replaced).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      message: expect.stringContaining('one returned a credential that the server refused'),
    })
    await vault.close()
  })

  it('that is only reported does not wait, even if no credential is left', async () => {
    const { vault } = openScene({ one: answers({ server, token: 't' }) })
    vault.reject(await vault.lease(), refusal)
    expect(vault.isDepleted).toBe(true)
    expect(vault.status().waiting).toBe(0)
    await vault.close()
  })

  it('that arrives late, for a replaced credential, does not affect the new login', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      one: () => {
        logins += 1
        return { server, token: `t${logins}` }
      },
    })
    const first = await vault.lease()
    expect((await vault.replace(first, refusal))?.authorization).toBe('Bearer t2')
    // Long after, so that no pause keeps a login from happening.
    clock.advance(120_000)
    // Twenty requests were in flight with the old one, and all hear of it now.
    for (let late = 0; late < 20; late += 1) vault.reject(first, refusal)
    expect((await vault.lease()).authorization).toBe('Bearer t2')
    await settle()
    expect(logins).toBe(2)
    await vault.close()
  })

  it('makes the next request wait, then fail, while the handler returns nothing new', async () => {
    const { vault, clock } = openScene(
      { one: answers({ server, token: 't' }) },
      { freezeLimitMs: 5000 },
    )
    vault.reject(await vault.lease(), refusal)
    const asked = outcome(vault.lease())
    await passTime(clock, 6)
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    await vault.close()
  })
})

describe('a resource built from a login', () => {
  const made = (log: string[], name: string) => () => {
    log.push(`made ${name}`)
    return {
      name,
      close: () => void log.push(`closed ${name}`),
      destroy: () => void log.push(`destroyed ${name}`),
    }
  }

  it('is created when needed, and closed with the vault', async () => {
    const log: string[] = []
    const { vault } = openScene({ one: answers({ server, token: 't' }) })
    const lease = await vault.lease()
    expect(lease.resources.get('pool', 'one', made(log, 'pool')).name).toBe('pool')
    await vault.close()
    expect(log).toEqual(['made pool', 'destroyed pool'])
  })

  it('is created once for the same purpose', async () => {
    const log: string[] = []
    const { vault } = openScene({ one: answers({ server, token: 't' }) })
    const first = (await vault.lease()).resources.get('pool', 'one', made(log, 'first'))
    const again = (await vault.lease()).resources.get('pool', 'one', made(log, 'again'))
    expect(again).toBe(first)
    expect(log).toEqual(['made first'])
    await vault.close()
  })

  it('is created once for each purpose and each server', async () => {
    const log: string[] = []
    const { vault } = openScene({ one: answers({ server, token: 't' }) })
    const { resources } = await vault.lease()
    for (const [kind, scope] of [
      ['pool', 'one'],
      ['agent', 'one'],
      ['pool', 'two'],
      ['pool', 'one'],
    ] as const) {
      resources.get(kind, scope, made(log, `${kind} ${scope}`))
    }
    expect(log).toEqual(['made pool one', 'made agent one', 'made pool two'])
    await vault.close()
  })
})
