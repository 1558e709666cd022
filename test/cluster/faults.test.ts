import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'kubecred'
import { describe, expect, inject, it } from 'vitest'
import { CuttableProxy } from './harness/cuttable-proxy.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

const cluster = new TestCluster(inject('cluster'))

describe.concurrent('faults between a client and a real API server', () => {
  it('cut connections cause no plugin run, and the next request succeeds', async ({ annotate }) => {
    await using proxy = await CuttableProxy.start(cluster.facts.access.server)
    const plugin = cluster.plugin().answer(cluster.token({ user: cluster.unique('cut') }))
    const kubeconfig = cluster.kubeconfig({ server: proxy.url, user: { exec: plugin.exec } })
    const ours = await connect({ kubeconfig })
    const ask = async (): Promise<number> => {
      const answer = await ours.fetch('/api/v1/namespaces')
      await answer.arrayBuffer()
      return answer.status
    }
    for (let cuts = 0; cuts < 5; cuts += 1) {
      const path = '/api/v1/namespaces/default/configmaps?watch=true'
      const watch = await ours.fetch(path)
      const reading = watch.arrayBuffer()
      expect(await ask()).toBe(200)
      proxy.cut()
      // The watch must end with an error: a watch that only stalls would lose events.
      await expect(reading).rejects.toThrow()
    }
    const cut = performance.now()
    expect(await ask()).toBe(200)
    const ms = Math.round(performance.now() - cut)
    await annotate(`5 cuts: the next request answered after ${ms} ms, 1 run in all`, 'figures')
    expect(plugin.runs).toBe(1)
    await ours.close()
  })

  it('a plugin that fails for a minute is not run in a loop, and recovers without help', {
    timeout: 240_000,
  }, async ({ annotate }) => {
    const plugin = cluster.plugin().fail()
    const ours = await connect({
      kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }),
    })
    const ask = (): Promise<number> =>
      ours.fetch('/api/v1/namespaces').then(
        async (answer) => {
          await answer.arrayBuffer()
          return answer.status
        },
        () => 0,
      )
    const begun = Date.now()
    let asked = 0
    for (; Date.now() - begun < 60_000; asked += 1) {
      expect(await ask()).toBe(0)
      await pause(20)
    }
    // Pauses double from one second, minus up to a fifth: at most the first run and six more in a minute.
    const runs = plugin.runs
    expect(asked).toBeGreaterThan(300)
    expect(runs).toBeLessThanOrEqual(1 + Math.log2((Date.now() - begun) / 800 + 1))
    plugin.answer(cluster.token({ user: cluster.unique('healed') }))
    const mended = Date.now()
    // The longest pause by then is 64 s plus a fifth.
    await until(async () => (await ask()) === 200, 100_000)
    const seconds = Math.round((Date.now() - mended) / 1000)
    const figures = `${asked} requests in a minute, ${runs} runs; recovered ${seconds} s after the plugin`
    await annotate(figures, 'figures')
    await ours.close()
  })
})
