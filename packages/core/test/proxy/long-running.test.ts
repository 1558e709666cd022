import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { ask, type RunningProxy, startProxy } from './scene.ts'

const MINUTE = 60_000
const HOURS = inject('isLong') ? 24 : 4
const DURATION = HOURS * 60 * MINUTE
const STEP = 3 * MINUTE
/** As on EKS. */
const LIFE = 15 * MINUTE

let sandbox: Sandbox
let running: RunningProxy | undefined
beforeEach(async () => {
  // Only `Date`: the hours pass in an instant, and timers and sockets keep working.
  vi.useFakeTimers({ toFake: ['Date'] })
  sandbox = await startSandbox()
})
afterEach(async () => {
  await running?.[Symbol.asyncDispose]()
  await sandbox.close()
  vi.useRealTimers()
})

describe(`${HOURS} hours of a proxy, a request every three minutes`, () => {
  it('pass without a failure, with one plugin run for each token', async () => {
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: LIFE })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    running = await startProxy(cluster)
    const { port, notes } = running
    const end = Date.now() + DURATION
    while (Date.now() < end) {
      vi.setSystemTime(Date.now() + STEP)
      const { status } = await ask(port, { path: '/api/v1/namespaces' })
      if (status !== 200) break
    }
    expect(notes.filter(({ status }) => status !== 200)).toEqual([])
    expect(notes).toHaveLength(DURATION / STEP)
    // A token is renewed about 3 min (a fifth of its lifetime) before it expires, and not more often.
    expect(sandbox.pluginRuns).toBeGreaterThanOrEqual(DURATION / LIFE)
    expect(sandbox.pluginRuns).toBeLessThanOrEqual(Math.ceil(DURATION / (LIFE - 2 * STEP)))
    expect(running.proxy.open).toBe(0)
    expect(sandbox.connections.open).toBeLessThanOrEqual(2)
  }, 120_000)
})
