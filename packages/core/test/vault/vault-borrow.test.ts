import { describe, expect, it } from 'vitest'
import { LoginError } from '../../src/errors/index.ts'
import { nodeCrypto } from '../../src/node/node-crypto.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type LoginContext, PermanentError } from '../../src/vault/login-handler.ts'
import { Vault, type VaultPorts } from '../../src/vault/vault.ts'
import { settle } from './vault-scene.ts'

const server = 'https://one.test'

/** What a connection gives a vault. Notes which logins it opened. */
function ports() {
  const opened: string[] = []
  const clock = new FakeClock(1_000_000)
  const given: VaultPorts = {
    clock,
    crypto: { ...nodeCrypto, jitter: () => 0 },
    fallbacks: () => [
      { id: 'fallback', handler: () => ({ server, token: 'fallback' }), options: {} },
    ],
    open: async ({ connection: { user, cluster, namespace }, expiresAt }) => {
      opened.push(user.token?.expose() ?? '')
      const endpoint = { cluster, ca: undefined, namespace, trustEnv: false, priority: 0 }
      const credential = { ...(user.token && { token: user.token }) }
      return { acquire: async () => ({ credential, expiresAt, endpoint }), release: async () => {} }
    },
  }
  return { given, opened, clock }
}

describe('a vault that connections use', () => {
  it('has a status from the first one to the last', async () => {
    const vault = new Vault().onLogin(() => ({ server, token: 't' }), { id: 'corp' })
    expect(vault.status()).toBeUndefined()
    const [first, second] = [vault.borrow(ports().given), vault.borrow(ports().given)]
    expect(first.vault).toBe(second.vault)
    expect((await first.vault.lease()).authorization).toBe('Bearer t')
    expect(vault.status()?.logins.map(({ handler }) => handler)).toEqual(['corp'])
    await first.release()
    // A second time changes nothing.
    await first.release()
    expect(vault.status()?.state).toBe('ready')
    await second.release()
    expect(vault.status()).toBeUndefined()
    expect(() => first.vault.lease()).toThrow(/closed/)
    const again = vault.borrow(ports().given)
    expect(again.vault).not.toBe(first.vault)
    expect((await again.vault.lease()).authorization).toBe('Bearer t')
    await again.release()
  })

  it('uses other logins only if it has no handler', async () => {
    const { vault, release } = new Vault().borrow(ports().given)
    expect((await vault.lease()).authorization).toBe('Bearer fallback')
    await release()
  })

  it('takes no handler while it is used, and more of them before and after', async () => {
    const vault = new Vault().onLogin(() => ({ server, token: 't' }), { id: 'one' })
    const { release } = vault.borrow(ports().given)
    expect(() => vault.onLogin(() => undefined, { id: 'two' })).toThrow('this vault is in use')
    await release()
    expect(vault.onLogin(() => undefined, { id: 'two' })).toBe(vault)
  })

  it('has the limits that it was made with', async () => {
    const { given, clock } = ports()
    const vault = new Vault({ freezeLimitMs: 5000, queueLimit: 1 })
    vault.onLogin(() => new Promise(() => {}), { id: 'hangs' })
    const { vault: access, release } = vault.borrow(given)
    const waiting = Promise.resolve(access.lease()).catch((error: unknown) => error)
    await expect(access.lease()).rejects.toMatchObject({ code: 'ERR_LOGIN_QUEUE_FULL' })
    clock.advance(5000)
    expect(await waiting).toMatchObject({ message: expect.stringContaining('within 5 s') })
    await release()
  })

  it('keeps the pauses of its handlers for the next connection if all of them failed', async () => {
    let isUp = false
    const vault = new Vault().onLogin(
      () => {
        if (isUp) return { server, token: 't' }
        throw new PermanentError('locked')
      },
      { id: 'corp' },
    )
    const first = ports()
    const failed = vault.borrow(first.given)
    const failure = Promise.resolve(failed.vault.lease()).catch((error: unknown) => error)
    await settle()
    first.clock.advance(20)
    const error = await failure
    expect(error).toBeInstanceOf(LoginError)
    await failed.release(error)
    expect(vault.status()?.logins[0]?.state).toBe('failed')
    isUp = true
    const second = ports()
    const next = vault.borrow(second.given)
    expect(next.vault).toBe(failed.vault)
    first.clock.advance(2000)
    expect((await next.vault.lease()).authorization).toBe('Bearer t')
    // With the files and plugins of the connection that uses it now.
    expect([first.opened, second.opened]).toEqual([[], ['t']])
    await next.release(error)
    expect(vault.status()).toBeUndefined()
  })

  it('forgets them with any other error, and for a new handler', async () => {
    const failing = (context: LoginContext): never => {
      throw new PermanentError(`locked ${context.attempt}`)
    }
    const vault = new Vault().onLogin(failing, { id: 'corp' })
    for (const reason of [undefined, new Error('aborted'), 'login']) {
      const { given, clock } = ports()
      const { vault: access, release } = vault.borrow(given)
      const failure = Promise.resolve(access.lease()).catch((error: unknown) => error)
      await settle()
      clock.advance(20)
      const error = await failure
      await release(reason === 'login' ? error : reason)
      expect(vault.status() === undefined).toBe(reason !== 'login')
    }
    vault.onLogin(() => ({ server, token: 't' }), { id: 'other' })
    expect(vault.status()).toBeUndefined()
  })
})

describe('the id of a handler', () => {
  const idsOf = (vault: Vault) => {
    const { vault: access } = vault.borrow(ports().given)
    return access.status().logins.map(({ handler }) => handler)
  }
  function corp(): undefined {}

  it('is the one that was given, else the name of its function, else its number', () => {
    const vault = new Vault()
      .onLogin(corp)
      .onLogin(corp, { id: 'given' })
      .onLogin(
        (
          () => () =>
            undefined
        )(),
      )
    expect(idsOf(vault)).toEqual(['corp', 'given', 'login-3'])
  })

  it('is taken once', () => {
    const vault = new Vault().onLogin(corp)
    expect(() => vault.onLogin(corp)).toThrow('there is already a login handler "corp"')
    expect(() => vault.onLogin(corp, { id: 'other' })).not.toThrow()
  })
})
