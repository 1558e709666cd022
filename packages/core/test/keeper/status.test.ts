import { describe, expect, it } from 'vitest'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from '../vault/vault-scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const START = 1_000_000_000

describe('the status of a vault', () => {
  it('lists every handler before the first request, without made-up values', async () => {
    const { vault } = openScene({ a: () => undefined, b: () => ({ server, token: 't' }) })
    expect(vault.status()).toEqual({
      source: { kind: 'vault', name: 'login handlers' },
      state: 'failed',
      runs: 0,
      waiting: 0,
      logins: ['a', 'b'].map((handler) => ({
        source: { kind: 'login', name: handler },
        state: 'empty',
        runs: 0,
        handler,
        attempts: 0,
        refusals: 0,
      })),
    })
    await vault.close()
  })

  it('has the server, time, duration and expiry of a login', async () => {
    const { vault, clock } = openScene({
      corp: ({ attempt }) => {
        if (attempt === 1) throw new TemporaryError('busy', { delayMs: 3000 })
        return { server, token: 't', priority: 5, expiration: new Date(START + 600_000) }
      },
    })
    const lease = vault.lease()
    await settle()
    clock.advance(3000)
    await lease
    expect(vault.status().logins).toEqual([
      {
        source: { kind: 'login', name: 'corp' },
        handler: 'corp',
        state: 'ready',
        server,
        priority: 5,
        parts: ['token'],
        runs: 1,
        lastRunMs: 3000,
        attempts: 2,
        refusals: 0,
        lastLoginAt: START + 3000,
        lastLoginMs: 3000,
        acquiredAt: START + 3000,
        expiresAt: START + 600_000,
      },
    ])
    expect(vault.status()).not.toHaveProperty('frozenSince')
    await vault.close()
  })

  it('has the number of waiting requests, since when they wait, and the last error of a handler that keeps trying', async () => {
    const { vault, clock } = openScene({
      busy: () => {
        throw new TemporaryError('the token is hunter2hunter2', { delayMs: 10_000 })
      },
    })
    const waiting = [vault.lease(), vault.lease()].map((each) => Promise.resolve(each))
    const ended = Promise.allSettled(waiting)
    await settle()
    clock.advance(10_000)
    await settle()
    expect(vault.status()).toMatchObject({
      state: 'running',
      waiting: 2,
      frozenSince: START,
      logins: [
        {
          state: 'running',
          attempts: 2,
          nextTryAt: START + 20_000,
          lastError: {
            code: 'ERR_LOGIN_FAILED',
            message: 'the token is hunter2hunter2',
            hint: expect.any(String),
          },
        },
      ],
    })
    await vault.close()
    await ended
    expect(vault.status()).toMatchObject({ state: 'closed', waiting: 0 })
  })

  it('counts refusals by handler, and has the end of each exclusion', async () => {
    const { vault, clock } = openScene({
      bad: () => ({ server, token: 'bad', priority: 5 }),
      twin: () => ({ server, token: 'bad' }),
      good: () => ({ server, token: 'good', priority: -5 }),
    })
    await vault.lease()
    await settle()
    const lease = await vault.lease()
    vault.reject(lease, refusal)
    await settle()
    const [bad, twin, good] = vault.status().logins
    const excludedUntil = START + 30_000
    expect(bad).toMatchObject({ state: 'refused', refusals: 1, excludedUntil })
    // It returned the same credential, which is known to be refused; no request has sent it.
    expect(twin).toMatchObject({ state: 'refused', refusals: 0, excludedUntil })
    expect(good).toMatchObject({ state: 'ready', refusals: 0 })
    expect(good).not.toHaveProperty('excludedUntil')
    clock.advance(30_000)
    expect(vault.status().logins[0]).not.toHaveProperty('excludedUntil')
    await vault.close()
  })

  it("keeps the message of a handler's failure", async () => {
    const { vault } = openScene({
      locked: () => {
        throw new PermanentError('Bearer abcdefghijklmnop is locked')
      },
      fine: () => ({ server, token: 't' }),
    })
    await vault.lease()
    await settle()
    expect(vault.status().logins[0]).toMatchObject({
      state: 'failed',
      attempts: 1,
      lastError: {
        code: 'ERR_LOGIN_FAILED',
        message: 'the login failed; locked failed: Bearer [secret] is locked',
      },
      nextTryAt: expect.any(Number),
    })
    await vault.close()
  })

  it('is plain data that survives JSON and structuredClone', async () => {
    const { vault } = openScene({
      bad: () => ({ server, token: 'bad' }),
      none: () => undefined,
      broken: () => {
        throw new PermanentError('no')
      },
    })
    vault.reject(await vault.lease(), refusal)
    const waiting = Promise.resolve(vault.lease()).catch(() => {})
    await settle()
    const status = vault.status()
    expect(JSON.parse(JSON.stringify(status))).toEqual(status)
    expect(structuredClone(status)).toEqual(status)
    await vault.close()
    await waiting
  })
})
