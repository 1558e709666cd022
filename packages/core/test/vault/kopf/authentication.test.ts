// After kopf's tests/authentication/test_authentication.py and tests/handling/test_activity_triggering.py.
import { describe, expect, it } from 'vitest'
import { LoginError } from '../../../src/errors/index.ts'
import type { CredentialEvent } from '../../../src/ports/observer.ts'
import { PermanentError, TemporaryError } from '../../../src/vault/login-handler.ts'
import { openScene, settle } from '../vault-scene.ts'
import { outcome, passTime } from './pass-time.ts'

const server = 'https://one.test'

describe('a vault', () => {
  it('without handlers has no credentials, and fails in time', async () => {
    const { vault, clock } = openScene({})
    const asked = outcome(vault.lease())
    await passTime(clock, 61)
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_FAILED', outcomes: [] })
    expect(vault.isDepleted).toBe(true)
    await vault.close()
  })

  it.each([undefined, null])(
    'whose only handler returns %s has no credentials',
    async (nothing) => {
      const { vault, clock } = openScene({ one: () => nothing })
      const asked = outcome(vault.lease())
      await passTime(clock, 61)
      expect(await asked).toMatchObject({ outcomes: [{ handler: 'one', result: 'nothing' }] })
      await vault.close()
    },
  )

  it('holds a single login under the id of its handler', async () => {
    const { vault } = openScene({ 'the-id': () => ({ server, token: 't' }) })
    expect((await vault.lease()).authorization).toBe('Bearer t')
    const { logins } = vault.status()
    expect(logins.map(({ source, state }) => [source.name, state])).toEqual([['the-id', 'ready']])
    await vault.close()
  })

  it('holds what each of two handlers returned', async () => {
    const { vault } = openScene({
      one: () => ({ server, token: 'a' }),
      two: async () => ({ server, token: 'b' }),
    })
    const first = await vault.lease()
    await settle()
    vault.reject(first, { status: 401, headers: {} })
    const second = await vault.lease()
    expect([first.authorization, second.authorization].sort()).toEqual(['Bearer a', 'Bearer b'])
    await vault.close()
  })
})

describe('a failed login', () => {
  const failures = (events: readonly CredentialEvent[]) =>
    events.flatMap((event) => (event.type === 'run-failed' ? [event.error] : []))

  it('reports each handler’s failure as it happens, with what it threw as the cause', async () => {
    const { vault, events } = openScene({
      one: () => {
        throw new PermanentError('boo!')
      },
      two: () => {
        throw new TemporaryError('later', { delayMs: 1000 })
      },
    })
    const asked = outcome(vault.lease())
    await settle()
    const [error, ...others] = failures(events)
    expect(others).toEqual([])
    expect(error).toBeInstanceOf(LoginError)
    expect(error).toMatchObject({
      message: 'the login failed; one failed: boo!',
      outcomes: [{ handler: 'one', result: 'failed', attempts: 1, reason: 'boo!' }],
      cause: { name: 'PermanentError', message: 'boo!' },
    })
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'login-retried',
        outcome: { handler: 'two', result: 'running', attempts: 1, reason: 'later' },
      }),
    )
    await vault.close()
    await asked
  })
})
