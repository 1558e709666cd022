import { describe, expect, it } from 'vitest'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene, settle } from '../vault/vault-scene.ts'
import { linesOf, makeMetrics } from './scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }

async function pass(clock: { advance(ms: number): void }, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await settle()
    clock.advance(1000)
  }
  await settle()
}

describe('the metrics of a vault', () => {
  it('count logins by handler and outcome, retries, refusals and expiries', async () => {
    const metrics = await makeMetrics()
    const tokens = ['one', 'two', 'two']
    const { vault, clock } = openScene({
      corp: ({ attempt }) => {
        if (attempt === 1) throw new TemporaryError('busy', { delayMs: 3000 })
        const expiration = new Date(clock.now() + 600_000)
        return { server, token: tokens.shift() ?? 'two', expiration }
      },
      elsewhere: () => undefined,
      broken: () => {
        throw new PermanentError('no')
      },
    })
    vault.watch(metrics.observer)
    const lease = vault.lease()
    await pass(clock, 4)
    const replaced = vault.replace(await lease, refusal)
    await pass(clock, 4)
    await replaced
    clock.jumpTo(clock.now() + 700_000)
    const again = vault.lease()
    await pass(clock, 4)
    await again
    const text = await metrics.register.metrics()
    const count = (handler: string, outcome: string) =>
      linesOf(text, `kubecred_login_total{handler="${handler}",outcome="${outcome}"}`).map((line) =>
        Number(line.split(' ').at(-1)),
      )
    expect(count('corp', 'new')).toEqual([3])
    expect(count('elsewhere', 'nothing')[0]).toBeGreaterThan(0)
    expect(count('elsewhere', 'failed')).toEqual([])
    expect(count('broken', 'failed')[0]).toBeGreaterThan(0)
    expect(linesOf(text, 'kubecred_login_retried_total')).toEqual([
      'kubecred_login_retried_total{handler="corp"} 3',
    ])
    expect(linesOf(text, 'kubecred_login_refused_total')).toEqual([
      'kubecred_login_refused_total{handler="corp"} 1',
    ])
    expect(linesOf(text, 'kubecred_refused_total')).toEqual([
      'kubecred_refused_total{status="401"} 1',
    ])
    expect(linesOf(text, 'kubecred_login_expired_total')).toEqual([
      'kubecred_login_expired_total{handler="corp"} 1',
    ])
    expect(linesOf(text, 'kubecred_vault_depleted_total')).toEqual([
      'kubecred_vault_depleted_total 2',
    ])
    // Three waits of three seconds; the others took no time.
    expect(text).toContain('kubecred_login_duration_seconds_sum 9\n')
    expect(linesOf(text, 'kubecred_vault_frozen_seconds_total')).toEqual([
      'kubecred_vault_frozen_seconds_total 9',
    ])
    await vault.close()
  })

  it('report the current waiting requests and excluded logins, summed over all vaults', async () => {
    const metrics = await makeMetrics()
    const values = async () =>
      linesOf(await metrics.register.metrics(), 'kubecred_vault_').filter(
        (line) => !/_total/.test(line),
      )
    const scenes = [0, 1].map(() => openScene({ same: () => ({ server, token: 'same' }) }))
    for (const { vault } of scenes) vault.watch(metrics.observer)
    expect(await values()).toEqual([
      'kubecred_vault_frozen 0',
      'kubecred_vault_waiting_requests 0',
      'kubecred_vault_excluded_logins 0',
    ])
    const ended = scenes.map(async ({ vault }) => {
      vault.reject(await vault.lease(), refusal)
      await Promise.allSettled([vault.lease(), vault.lease()])
    })
    await settle()
    expect(await values()).toEqual([
      'kubecred_vault_frozen 2',
      'kubecred_vault_waiting_requests 4',
      'kubecred_vault_excluded_logins 2',
    ])
    await scenes[0]?.vault.close()
    expect(await values()).toEqual([
      'kubecred_vault_frozen 1',
      'kubecred_vault_waiting_requests 2',
      'kubecred_vault_excluded_logins 1',
    ])
    await scenes[1]?.vault.close()
    await Promise.all(ended)
    expect((await values()).map((line) => line.split(' ')[1])).toEqual(['0', '0', '0'])
  })

  it('count requests that failed because no login succeeded', async () => {
    const metrics = await makeMetrics()
    const { vault, clock } = openScene(
      { never: () => new Promise(() => {}) },
      { freezeLimitMs: 2000 },
    )
    vault.watch(metrics.observer)
    const ended = Promise.allSettled([vault.lease(), vault.lease(), vault.lease()])
    await pass(clock, 3)
    await ended
    expect(await metrics.register.metrics()).toContain('\nkubecred_vault_failed_total 3\n')
    await vault.close()
  })

  it('limit the number of handler labels, and keep counting for known handlers', async () => {
    const metrics = await makeMetrics()
    const refuse = (name: string): void =>
      metrics.observer({ type: 'refused', source: { kind: 'login', name }, status: 401 })
    for (let nth = 0; nth < 1000; nth += 1) refuse(`handler-${nth}`)
    refuse('handler-0')
    const lines = linesOf(await metrics.register.metrics(), 'kubecred_login_refused_total')
    expect(lines).toHaveLength(51)
    expect(lines[0]).toBe('kubecred_login_refused_total{handler="handler-0"} 2')
    expect(lines.at(-1)).toBe('kubecred_login_refused_total{handler="other"} 950')
  })
})
