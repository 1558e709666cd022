import { describe, expect, it } from 'vitest'
import type { Lease } from '../../src/keeper/lease.ts'
import { PermanentError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from './vault-scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const settled = (lease: unknown) => Promise.resolve(lease).catch((error: unknown) => error)

describe('the state of a vault', () => {
  it('is that of its handlers: running, ready, then closed', async () => {
    let answer: (() => void) | undefined
    const { vault, clock } = openScene({
      fails: () => {
        throw new PermanentError('locked')
      },
      slow: () => new Promise((resolve) => (answer = () => resolve({ server, token: 't' }))),
    })
    expect(vault.status()).toMatchObject({ state: 'failed', runs: 0, waiting: 0 })
    const lease = vault.lease()
    await settle()
    expect(vault.status()).toMatchObject({
      source: { kind: 'vault', name: 'login handlers' },
      state: 'running',
      runs: 2,
      waiting: 1,
      frozenSince: clock.now(),
    })
    answer?.()
    await lease
    expect(vault.status()).toMatchObject({ state: 'ready', waiting: 0 })
    expect(vault.status()).not.toHaveProperty('frozenSince')
    await vault.close()
    expect(vault.status().state).toBe('closed')
  })

  it('is failed if no handler could log in, and the error says when the next may run', async () => {
    const { vault, clock } = openScene({
      locked: () => {
        throw new PermanentError('locked')
      },
    })
    const first = settled(vault.lease())
    await settle()
    clock.advance(20)
    const error = (await first) as { message: string; nextTryAt: number }
    expect(error.message).toMatch(/^no login handler could log in; locked failed/)
    // The handler has a pause of a second.
    expect(error.nextTryAt).toBe(clock.now() + 980)
    expect(vault.status().state).toBe('failed')
    await vault.close()
  })
})

describe('a vault', () => {
  it('forgets its credentials, and logs in again for the next request', async () => {
    let logins = 0
    const { vault } = openScene({
      corp: () => {
        logins += 1
        return { server, token: `a-token-${logins}` }
      },
    })
    await vault.lease()
    expect(vault.secrets.map((secret) => secret.expose())).toContain('a-token-1')
    vault.forget()
    expect(vault.isDepleted).toBe(true)
    expect((await vault.lease()).authorization).toBe('Bearer a-token-2')
    await vault.close()
  })

  it('drains the connections of every handler', async () => {
    const { vault } = openScene({ corp: () => ({ server, token: 't' }) })
    const { resources } = await vault.lease()
    const closed: string[] = []
    for (const scope of ['one', 'two']) {
      const resource = { close: () => void closed.push(scope), destroy: () => {} }
      resources.get('pool', scope, () => resource)
    }
    vault.drain('one')
    await settle()
    expect(closed).toEqual(['one'])
    await vault.close()
  })

  it('ignores what is said about a lease of another vault', async () => {
    const { vault, events } = openScene({ corp: () => ({ server, token: 't' }) })
    await vault.lease()
    const other = {} as Lease
    vault.reject(other, refusal)
    vault.accept(other)
    expect(events.filter(({ type }) => type === 'refused')).toEqual([])
    expect(vault.isDepleted).toBe(false)
    await vault.close()
  })

  it('asks the same handler again after a 403, and keeps its credential in use', async () => {
    let logins = 0
    const { vault, events } = openScene({
      corp: () => {
        logins += 1
        return { server, token: 't' }
      },
    })
    vault.reject(await vault.lease(), { status: 403, headers: {} })
    await settle()
    expect(logins).toBe(2)
    expect(vault.isDepleted).toBe(false)
    expect(events.filter(({ type }) => type === 'depleted')).toEqual([])
    expect(vault.status().logins[0]?.refusals).toBe(1)
    await vault.close()
  })

  it('reports a refusal once, and none for a credential that was replaced', async () => {
    let logins = 0
    const { vault, events, clock } = openScene({
      corp: () => {
        logins += 1
        return { server, token: `t${logins}` }
      },
    })
    const first = await vault.lease()
    vault.reject(first, refusal)
    await settle()
    vault.reject(first, refusal)
    expect(events.filter(({ type }) => type === 'refused')).toEqual([
      {
        type: 'refused',
        source: { kind: 'login', name: 'corp' },
        status: 401,
        server,
        excludedUntil: clock.now() + 30_000,
      },
    ])
    expect(vault.status().logins[0]?.refusals).toBe(1)
    await vault.close()
  })
})
