// What a vault remembers of refusals, and how it chooses: needs 8 and 12, and where kopf's documentation errs (11).
import { describe, expect, it } from 'vitest'
import type { ConnectionFields } from '../../../src/vault/connection-fields.ts'
import type { LoginContext } from '../../../src/vault/login-handler.ts'
import { choose } from '../../../src/vault/login-handlers.ts'
import { openScene, settle } from '../vault-scene.ts'
import { outcome, passTime } from './pass-time.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }

describe('need 8: a refused credential is recognised by its secret', () => {
  const disguises: Readonly<Record<string, Partial<ConnectionFields>>> = {
    'another end': { expiration: '2100-01-01T00:00:00Z' },
    'another priority': { priority: 7 },
    'another namespace': { defaultNamespace: 'elsewhere' },
    'another word on proxies': { trustEnv: true },
    'another check of the server': { insecure: true },
    'a slash': { server: `${server}/` },
    'the port written out': { server: `${server}:443` },
  }

  it.each(Object.keys(disguises))(
    'need 8: %s does not make it another credential',
    async (name) => {
      let logins = 0
      const { vault, clock } = openScene(
        {
          one: () => {
            logins += 1
            return { server, token: 'same', ...(logins > 1 && disguises[name]) }
          },
        },
        { freezeLimitMs: 20_000 },
      )
      const replaced = outcome(vault.replace(await vault.lease(), refusal))
      await passTime(clock, 21)
      expect(logins).toBeGreaterThan(1)
      expect(await replaced).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
      await vault.close()
    },
  )

  it('need 8: another handler does not make it another credential', async () => {
    const { vault, clock } = openScene(
      { one: () => ({ server, token: 'same' }), two: () => ({ server, token: 'same' }) },
      { freezeLimitMs: 20_000 },
    )
    const first = await vault.lease()
    await settle()
    const replaced = outcome(vault.replace(first, refusal))
    await passTime(clock, 21)
    expect(await replaced).toMatchObject({
      outcomes: [{ result: 'refused' }, { result: 'refused' }],
    })
    await vault.close()
  })

  it('need 8: another server makes it another credential', async () => {
    const { vault } = openScene({
      one: () => ({ server, token: 'same', priority: 1 }),
      two: () => ({ server: 'https://two.test', token: 'same' }),
    })
    await vault.lease()
    await settle()
    const first = await vault.lease()
    expect((await vault.replace(first, refusal))?.endpoint?.cluster.server).toBe('https://two.test')
    await vault.close()
  })

  it('need 8: more than three are remembered', async () => {
    const tokens = ['a', 'b', 'c', 'd', 'e', 'a']
    const { vault } = openScene(
      Object.fromEntries(
        tokens.map((token, index) => [
          `handler-${index}`,
          () => ({ server, token, priority: tokens.length - index }),
        ]),
      ),
    )
    await vault.lease()
    await settle()
    for (const expected of tokens.slice(0, 5)) {
      const lease = await vault.lease()
      expect(lease.authorization).toBe(`Bearer ${expected}`)
      vault.reject(lease, refusal)
    }
    expect(vault.isDepleted).toBe(true)
    await vault.close()
  })

  it('need 8: a refusal is forgotten after a success', async () => {
    const { vault, clock } = openScene({ one: () => ({ server, token: 'same' }) })
    vault.reject(await vault.lease(), refusal)
    const again = outcome(vault.lease())
    await passTime(clock, 31)
    vault.accept((await again) as never)
    expect(vault.isDepleted).toBe(false)
    expect(await vault.lease()).toMatchObject({ authorization: 'Bearer same' })
    await vault.close()
  })
})

describe('need 12: a handler knows why it is called', () => {
  it('need 12: it receives reason and refusal, and never a secret', async () => {
    const asked: LoginContext[] = []
    const { vault, clock } = openScene({
      one: (context) => {
        asked.push(context)
        const expiration = new Date(clock.now() + 100_000)
        return { server, token: `hush-${asked.length}`, expiration }
      },
      other: () => ({ server, token: 'other', priority: -1 }),
    })
    const first = await vault.lease()
    await settle()
    clock.advance(3000)
    vault.reject(first, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
    await settle()
    await vault.lease()
    await passTime(clock, 90)
    expect(asked.map(({ reason, attempt }) => [reason, attempt])).toEqual([
      ['first', 1],
      ['refused', 1],
      ['ahead', 1],
    ])
    expect(asked.map(({ refused }) => refused)).toEqual([
      undefined,
      { server, status: 401, at: 1_000_003_000 },
      undefined,
    ])
    expect(JSON.stringify(asked)).not.toContain('hush')
    await vault.close()
  })

  it('need 12: an observer sees whose login was refused, once, and what followed', async () => {
    let logins = 0
    const { vault, events } = openScene({
      one: () => {
        logins += 1
        return { server, token: `hush-${logins}` }
      },
    })
    await vault.replace(await vault.lease(), refusal)
    const reported = events.map(({ type, source }) => `${source.name}: ${type}`)
    const story = reported.slice(reported.indexOf('one: refused'))
    expect(story.filter((each) => each === 'one: refused')).toHaveLength(1)
    const since = [
      'one: refused',
      'login handlers: depleted',
      'login handlers: frozen',
      'one: run-succeeded',
      'login handlers: thawed',
    ]
    expect(story.filter((each) => since.includes(each))).toEqual(since)
    expect(JSON.stringify(events)).not.toContain('hush')
    await vault.close()
  })
})

describe('11: priority', () => {
  it('11.1: is strict: a lower one is used only if no higher one is left', async () => {
    const { vault } = openScene({
      high: () => ({ server, token: 'high', priority: 10 }),
      low: () => ({ server, token: 'low', priority: -5 }),
      none: () => ({ server, token: 'none' }),
    })
    await vault.lease()
    await settle()
    for (const expected of ['high', 'none', 'low']) {
      for (let time = 0; time < 50; time += 1) {
        expect((await vault.lease()).authorization).toBe(`Bearer ${expected}`)
      }
      vault.reject(await vault.lease(), refusal)
    }
    await vault.close()
  })

  it('11.1: is random among equals, with equal probability', () => {
    const candidates = ['a', 'b', 'c'].map((name) => ({ name, priority: 3 }))
    const all = [...candidates, { name: 'low', priority: 2 }]
    const counts = new Map<string | undefined, number>()
    for (let random = 0; random < 1; random += 1 / 3000) {
      const name = choose(all, random)?.name
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    expect([...counts.keys()]).toEqual(['a', 'b', 'c'])
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThanOrEqual(1)
    expect(choose([], 0.5)).toBeUndefined()
    expect(choose(candidates, 0.999_999_999)?.name).toBe('c')
  })
})
