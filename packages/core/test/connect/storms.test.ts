import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'

let sandbox: Sandbox
let events: CredentialEvent[]

beforeEach(async () => {
  events = []
  // Only the wall clock is held: timers and sockets stay real.
  vi.useFakeTimers({ toFake: ['Date'] })
  sandbox = await startSandbox()
})
afterEach(async () => {
  vi.useRealTimers()
  await sandbox.close()
})

async function connectWithPlugin(plugin: { lifetimeMs?: number; delayMs?: number } = {}) {
  const exec = await sandbox.plugin({ user: 'jane', ...plugin })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  return connect({ kubeconfig, observer: (event) => events.push(event) })
}

/** Sends many requests at once and counts the statuses. */
async function storm(
  fetch: typeof globalThis.fetch,
  count: number,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const one = async (): Promise<void> => {
    const response = await fetch('/version')
    await response.arrayBuffer()
    counts[response.status] = (counts[response.status] ?? 0) + 1
  }
  await Promise.all(Array.from({ length: count }, one))
  return counts
}

const REQUESTS = inject('isLong') ? 10_000 : 1000
/** For a busy machine. */
const LIMIT_MS = 180_000

describe(`a storm of ${REQUESTS} requests`, () => {
  it(
    'runs the plugin exactly once on a cold start and once after the expiry, and none fails',
    async () => {
      await using cluster = await connectWithPlugin({ lifetimeMs: 600_000, delayMs: 50 })
      expect(await storm(cluster.fetch, REQUESTS)).toEqual({ 200: REQUESTS })
      expect(sandbox.pluginRuns).toBe(1)
      vi.setSystemTime(Date.now() + 660_000)
      expect(await storm(cluster.fetch, REQUESTS)).toEqual({ 200: REQUESTS })
      expect(sandbox.pluginRuns).toBe(2)
    },
    LIMIT_MS,
  )
})

describe('a revocation under load', () => {
  it('leads to one run, and no request fails', async () => {
    await using cluster = await connectWithPlugin()
    await storm(cluster.fetch, 10)
    sandbox.revoke('jane')
    expect(await storm(cluster.fetch, 1000)).toEqual({ 200: 1000 })
    expect(sandbox.pluginRuns).toBe(2)
  })
})

describe('tokens that live shorter than the load lasts', () => {
  it(
    'are renewed ahead of time: after the first, no request waits for the plugin and none fails',
    async () => {
      await using cluster = await connectWithPlugin({ lifetimeMs: 600_000, delayMs: 200 })
      const runs = (): number => events.filter(({ type }) => type === 'run-succeeded').length
      const enough = (): boolean => runs() >= 3
      const worker = async (): Promise<Set<number>> => {
        const seen = new Set<number>()
        while (!enough()) {
          const response = await cluster.fetch('/version')
          await response.arrayBuffer()
          seen.add(response.status)
        }
        return seen
      }
      const workers = Promise.all(Array.from({ length: 2 }, worker))
      for (const run of [1, 2]) {
        await vi.waitUntil(() => runs() === run, { timeout: LIMIT_MS, interval: 1 })
        // Still good for a while, which lasts until the clock moves on.
        vi.setSystemTime(Date.now() + 500_000)
      }
      const seen = await workers
      expect(new Set(seen.flatMap((statuses) => [...statuses]))).toEqual(new Set([200]))
      const reasons = events.flatMap((event) =>
        event.type === 'run-started' ? [event.reason] : [],
      )
      expect(reasons.slice(0, 3)).toEqual(['first', 'ahead', 'ahead'])
      expect(events.filter(({ type }) => type === 'refused')).toEqual([])
    },
    LIMIT_MS,
  )
})

describe('a caller that gives up', () => {
  it('does not affect the other callers or the plugin', async () => {
    await using cluster = await connectWithPlugin({ delayMs: 300 })
    const leaving = new AbortController()
    const gone = cluster.fetch('/version', { signal: leaving.signal })
    const stays = cluster.fetch('/version')
    leaving.abort(new Error('changed my mind'))
    await expect(gone).rejects.toThrow('changed my mind')
    expect((await stays).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('does not end the plugin even if it was the last one, and the result is kept', async () => {
    await using cluster = await connectWithPlugin({ delayMs: 100 })
    const signal = AbortSignal.timeout(20)
    await expect(cluster.fetch('/version', { signal })).rejects.toThrow()
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
  })
})

describe('several connections with the same identity', () => {
  it('share one run', async () => {
    const exec = await sandbox.plugin({ user: 'jane', delayMs: 50 })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const clusters = await Promise.all(Array.from({ length: 10 }, () => connect({ kubeconfig })))
    const statuses = await Promise.all(
      clusters.map(async ({ fetch }) => (await fetch('/version')).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(sandbox.pluginRuns).toBe(1)
    await Promise.all(clusters.map((cluster) => cluster.close()))
  })
})
