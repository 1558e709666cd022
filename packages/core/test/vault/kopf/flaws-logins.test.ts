// Needs that kopf's vault does not meet, by their numbers in its report, and flaw 5.5; with a clock of our own.
import { describe, expect, it } from 'vitest'
import { type LoginContext, PermanentError } from '../../../src/vault/login-handler.ts'
import type { VaultAccess } from '../../../src/vault/vault-access.ts'
import { openScene, settle } from '../vault-scene.ts'
import { outcome, passTime } from './pass-time.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const START = 1_000_000_000

describe('5.5: an empty vault', () => {
  it('5.5: calls the handlers again for later requests', async () => {
    let logins = 0
    const { vault, clock } = openScene(
      {
        same: () => {
          logins += 1
          return { server, token: 'same' }
        },
      },
      { freezeLimitMs: 10_000 },
    )
    vault.reject(await vault.lease(), refusal)
    // In kopf the count stays where it is after the first of them.
    for (let later = 0; later < 2; later += 1) {
      const before = logins
      const asked = outcome(vault.lease())
      await passTime(clock, 11)
      expect(await asked).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
      expect(logins).toBeGreaterThan(before)
    }
    // Half a minute after the refusal one request tries it: the server may have changed its mind.
    const last = outcome(vault.lease())
    await passTime(clock, 9)
    expect(await last).toMatchObject({ authorization: 'Bearer same' })
    await vault.close()
  })
})

describe('need 1: renewal ahead of expiry', () => {
  it('need 1: the handler is called before the expiry, in the background, while no request waits', async () => {
    const asked: [string, number][] = []
    const { vault, clock, events } = openScene({
      corp: ({ reason }) => {
        asked.push([reason, clock.now() - START])
        const end = clock.now() + 100_000
        return { server, token: `t${asked.length}`, expiration: new Date(end) }
      },
    })
    const tokens = new Set([(await vault.lease()).authorization])
    for (let second = 0; second < 250; second += 1) {
      await passTime(clock, 1)
      const lease = vault.lease()
      expect(lease).not.toBeInstanceOf(Promise)
      tokens.add((await lease).authorization)
    }
    expect(tokens.size).toBeGreaterThanOrEqual(3)
    expect(asked.slice(1).map(([reason]) => reason)).toEqual(Array(asked.length - 1).fill('ahead'))
    expect(asked[1]?.[1]).toBeLessThan(100_000)
    const frozen = events.filter(({ type }) => type === 'frozen')
    expect(frozen).toHaveLength(1)
    await vault.close()
  })

  it('need 1: a handler that returns an expired login is not called for every request', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      late: () => {
        logins += 1
        return { server, token: `t${logins}`, expiration: new Date(clock.now() - 1) }
      },
    })
    for (let request = 0; request < 100; request += 1) {
      await vault.lease()
      await passTime(clock, 0.1, 100)
    }
    expect(logins).toBeLessThanOrEqual(2)
    await vault.close()
  })
})

describe('need 5: bounded logins', () => {
  it('need 5: a server that refuses everything sees few logins, however fresh they are', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      fresh: () => {
        logins += 1
        return { server, token: `t${logins}` }
      },
    })
    const sending = outcome(keepSending(vault))
    await passTime(clock, 60)
    expect(logins).toBeGreaterThanOrEqual(4)
    expect(logins).toBeLessThanOrEqual(8)
    await vault.close()
    await sending
  })

  // Not yet: the limit begins anew with every login that is refused.
  it('need 5: a request that is refused with every login fails at its deadline', async () => {
    let logins = 0
    const { vault, clock } = openScene({
      fresh: () => {
        logins += 1
        return { server, token: `t${logins}` }
      },
    })
    let ended: unknown
    const sending = keepSending(vault).catch((error: unknown) => {
      ended = error
    })
    await passTime(clock, 61)
    expect(ended).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    await vault.close()
    await sending
  })
})

/** One request to a server that refuses everything, sent again as transports do. */
async function keepSending(vault: VaultAccess): Promise<void> {
  const options = { deadline: {} }
  let lease = await vault.lease(undefined, options)
  for (;;) lease = (await vault.replace(lease, refusal, undefined, options)) ?? lease
}

describe('need 6: handlers do not harm each other', () => {
  it('need 6: they run in parallel, and the first usable login is used at once', async () => {
    const started: string[] = []
    const never = (name: string) => () => {
      started.push(name)
      return new Promise<never>(() => {})
    }
    const { vault } = openScene({
      hangs: never('hangs'),
      good: () => {
        started.push('good')
        return { server, token: 'good' }
      },
      'hangs too': never('hangs too'),
    })
    expect((await vault.lease()).authorization).toBe('Bearer good')
    expect(started).toEqual(['hangs', 'good', 'hangs too'])
    await vault.close()
  })

  it.each([
    ['throws', { fails: () => Promise.reject(new PermanentError('no')) }],
    ['returns a wrong type', { fails: () => 'text' as never }],
    ['always throws', { fails: () => Promise.reject(new Error('no')) }],
  ])('need 6: one that %s does not affect what another returned', async (_, bad) => {
    const { vault, clock } = openScene({ ...bad, good: () => ({ server, token: 'good' }) })
    expect((await vault.lease()).authorization).toBe('Bearer good')
    await passTime(clock, 100)
    expect((await vault.lease()).authorization).toBe('Bearer good')
    await vault.close()
  })

  it('need 6: one that hangs is aborted by its time limit, and called again later', async () => {
    const asked: LoginContext[] = []
    const { vault, clock } = openScene({
      hangs: [
        (context) => {
          asked.push(context)
          return asked.length === 1 ? new Promise(() => {}) : { server, token: 'late' }
        },
        { timeoutMs: 5000 },
      ],
    })
    const waiting = outcome(vault.lease())
    await passTime(clock, 10)
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expect((await vault.lease()).authorization).toBe('Bearer late')
    expect(asked[0]?.signal.aborted).toBe(true)
    await vault.close()
  })
})

describe('need 7: each handler by itself', () => {
  it('need 7: one whose credential is refused is called again although another is in use', async () => {
    let logins = 0
    const { vault } = openScene({
      preferred: () => {
        logins += 1
        return { server, token: `p${logins}`, priority: 5 }
      },
      other: () => ({ server, token: 'other' }),
    })
    const first = await vault.lease()
    await settle()
    vault.reject(first, refusal)
    expect((await vault.lease()).authorization).toBe('Bearer other')
    await settle()
    expect((await vault.lease()).authorization).toBe('Bearer p2')
    await vault.close()
  })

  it('need 7: one that could not renew in time is called again although another is in use', async () => {
    let isDown = false
    let logins = 0
    const { vault, clock } = openScene({
      preferred: () => {
        if (isDown) throw new PermanentError('down')
        logins += 1
        const expiration = new Date(clock.now() + 60_000)
        return { server, token: `p${logins}`, priority: 5, expiration }
      },
      other: () => ({ server, token: 'other' }),
    })
    await vault.lease()
    await settle()
    expect((await vault.lease()).authorization).toBe('Bearer p1')
    isDown = true
    await passTime(clock, 61)
    expect((await vault.lease()).authorization).toBe('Bearer other')
    isDown = false
    const used: unknown[] = []
    for (let second = 0; second < 600; second += 10) {
      await passTime(clock, 10)
      used.push((await vault.lease()).authorization)
    }
    expect(used).toContain('Bearer p2')
    await vault.close()
  })

  // Not yet: as above.
  it('need 7: one that could not log in at first is called again although another is in use', async () => {
    let isDown = true
    const { vault, clock } = openScene({
      preferred: () => {
        if (isDown) throw new PermanentError('down')
        return { server, token: 'preferred', priority: 5 }
      },
      other: () => ({ server, token: 'other' }),
    })
    expect((await vault.lease()).authorization).toBe('Bearer other')
    isDown = false
    const used: unknown[] = []
    for (let second = 0; second < 600; second += 10) {
      await passTime(clock, 10)
      used.push((await vault.lease()).authorization)
    }
    expect(used).toContain('Bearer preferred')
    await vault.close()
  })
})
