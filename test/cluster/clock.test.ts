import { connect } from 'kubecred'
import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { TestCluster } from './harness/test-cluster.ts'

const cluster = new TestCluster(inject('cluster'))
const HOUR = 3_600_000
afterEach(() => void vi.useRealTimers())

/** Shifts the clock of this process only: the server's stays correct. */
function moveClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + ms)
}

describe('a wrong local clock with a correct server clock', () => {
  it.for([
    ['an hour ahead', HOUR],
    ['a day ahead', 24 * HOUR],
    ['an hour behind', -HOUR],
    ['a year behind', -365 * 24 * HOUR],
  ] as const)(
    'shifted suddenly by %s: requests succeed, and the plugin is not run in a loop',
    async ([, jump], { annotate }) => {
      const user = cluster.unique('clock')
      const make = () => cluster.token({ user, lifetimeMs: 10 * 60_000 })
      const plugin = cluster.plugin().answer(make())
      const warnings: string[] = []
      const ours = await connect({
        kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }),
        observer: (event) => event.type === 'warning' && warnings.push(event.message),
      })
      const ask = async (): Promise<number> => {
        const answer = await ours.fetch('/api/v1/namespaces')
        await answer.arrayBuffer()
        return answer.status
      }
      expect(await ask()).toBe(200)
      moveClock(jump)
      const statuses = new Set<number>()
      for (let asked = 0; asked < 50; asked += 1) statuses.add(await ask())
      expect([...statuses]).toEqual([200])
      // With a clock ahead of the server, every credential seems to be expired: it is used anyway, with a warning.
      expect(plugin.runs).toBeLessThanOrEqual(3)
      expect(warnings.some((text) => text.includes('the clock of this machine'))).toBe(jump > 0)
      await annotate(`50 requests, all 200, ${plugin.runs} runs`, 'figures')
      await ours.close()
    },
  )
})
