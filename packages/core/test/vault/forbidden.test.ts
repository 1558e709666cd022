import { describe, expect, it } from 'vitest'
import { openScene } from './vault-scene.ts'

const server = 'https://one.test:6443'
const forbidden = { status: 403, headers: {} }

describe('a 403 that counts as a refusal, on a vault', () => {
  it('calls the same handler once for a newer credential, and no other handler', async () => {
    const tokens = ['old', 'new']
    const { vault } = openScene({
      first: () => ({ server, priority: 1, token: tokens.shift() ?? 'new' }),
      second: () => ({ server, token: 'other' }),
    })
    await vault.lease()
    const better = await vault.replace(await vault.lease(), forbidden)
    expect(better?.authorization).toBe('Bearer new')
    await vault.close()
  })

  it('keeps the login in use if there is no newer one: one forbidden request does not affect others', async () => {
    const { vault, events } = openScene({ only: () => ({ server, token: 'same' }) })
    const lease = await vault.lease()
    expect(await vault.replace(lease, forbidden)).toBeUndefined()
    expect(vault.isDepleted).toBe(false)
    expect((await vault.lease()).authorization).toBe('Bearer same')
    expect(events.map(({ type }) => type)).not.toContain('depleted')
    await vault.close()
  })
})

describe('what a handler receives about a refusal', () => {
  it("is the server's status, even if it is called again later", async () => {
    const statuses: (number | undefined)[] = []
    const { vault, clock, settle } = openScene({
      only: ({ refused }) => {
        statuses.push(refused?.status)
        return { server, token: 'same' }
      },
    })
    vault.reject(await vault.lease(), { status: 0, headers: {} })
    const waiting = Promise.resolve(vault.lease()).catch(() => {})
    for (let second = 0; second < 10; second += 1) {
      await settle()
      clock.advance(1000)
    }
    await settle()
    expect(statuses.length).toBeGreaterThan(2)
    expect([...new Set(statuses.slice(1))]).toEqual([0])
    await vault.close()
    await waiting
  })
})
