import { setTimeout as pause } from 'node:timers/promises'
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepare } from './harness/prepare.ts'
import { readPrograms } from './harness/read-programs.ts'
import { ResumingWatch } from './harness/resuming-watch.ts'
import { type RunningCluster, startCluster } from './harness/start-cluster.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

let running: RunningCluster
let cluster: TestCluster
beforeAll(async () => {
  running = await startCluster(readPrograms())
  cluster = new TestCluster(running.facts)
  await prepare(running.facts, { large: false })
})
afterAll(() => running?.close())

/** Creates config maps as administrator until it is stopped, and returns their names. */
function startWriter(namespace: string) {
  const made: string[] = []
  let isOver = false
  const work = (async () => {
    for (let count = 0; !isOver; count += 1) {
      const name = `object-${count}`
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      const answer = await cluster
        .admin('POST', path, { metadata: { name } })
        .catch(() => undefined)
      // The object of an interrupted request may exist or not.
      if (answer?.status === 201) made.push(name)
      await pause(100)
    }
  })()
  return {
    made,
    async stop() {
      isOver = true
      await work
      return made
    },
  }
}

async function restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await running.api.program.stop(signal)
  await running.api.run()
}

describe('a restarted API server', () => {
  it('costs an informer of client-node no event, while 3 s tokens rotate', async ({ annotate }) => {
    const namespace = await cluster.namespace()
    const user = cluster.unique('informer')
    const make = () => cluster.token({ user, lifetimeMs: 3000 })
    const plugin = cluster.plugin().answer(make())
    using _ = plugin.answerAnew(make)
    const kubeconfig = cluster.kubeconfig({ user: { exec: plugin.exec } })
    const kc = new KubeConfig()
    kc.loadFromFile(kubeconfig)
    const attachment = attach(kc, { kubeconfig })
    const api = kc.makeApiClient(CoreV1Api)
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const informer = makeInformer(kc, path, () => api.listNamespacedConfigMap({ namespace }))
    const seen = new Set<string | undefined>()
    let isOver = false
    informer.on('add', ({ metadata }) => seen.add(metadata?.name))
    informer.on('error', () => setTimeout(() => isOver || informer.start(), 200))
    await informer.start()
    const writer = startWriter(namespace)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await until(() => seen.size > 0)
      const size = seen.size
      await until(() => seen.size > size + 20)
      await restart(signal)
    }
    const size = seen.size
    await until(() => seen.size > size + 20)
    const made = await writer.stop()
    await until(() => made.every((name) => seen.has(name)))
    isOver = true
    await informer.stop()
    await attachment.close()
    expect(plugin.runs).toBeGreaterThan(2)
    await annotate(`${made.length} events, none lost; ${plugin.runs} runs`, 'figures')
  })

  it('costs a watch of cluster.fetch no event, on every transport, and none comes twice', async ({
    annotate,
  }) => {
    const namespace = await cluster.namespace()
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const watchers = await Promise.all(
      [{}, { transport: 'https' as const }, { transport: 'http2' as const }].map(async (how) => {
        const user = cluster.unique('watcher')
        const make = () => cluster.token({ user, lifetimeMs: 3000 })
        const plugin = cluster.plugin().answer(make())
        const anew = plugin.answerAnew(make)
        const kubeconfig = cluster.kubeconfig({ user: { exec: plugin.exec } })
        const ours = await connect({ kubeconfig, ...how })
        return { anew, plugin, ours, watch: new ResumingWatch(ours, path) }
      }),
    )
    const writer = startWriter(namespace)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const enough = writer.made.length + 20
      await until(() => writer.made.length > enough)
      await restart(signal)
    }
    const enough = writer.made.length + 20
    await until(() => writer.made.length > enough)
    const made = await writer.stop()
    for (const { watch, ours, plugin, anew } of watchers) {
      await until(() => made.every((name) => watch.added.includes(name)))
      expect(watch.added).toHaveLength(new Set(watch.added).size)
      expect(watch.begun).toBeGreaterThanOrEqual(3)
      expect(plugin.runs).toBeGreaterThan(2)
      await watch.stop()
      await ours.close()
      anew[Symbol.dispose]()
    }
    const runs = watchers.map(({ plugin }) => plugin.runs).join(', ')
    await annotate(
      `${made.length} events on 3 transports, none lost or twice; runs: ${runs}`,
      'figures',
    )
  })

  it('delays no request longer than its downtime', async ({ annotate }) => {
    const user = cluster.unique('caller')
    const plugin = cluster.plugin().answer(cluster.token({ user }))
    const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
    const ask = async (): Promise<number> => {
      const answer = await ours.fetch('/api/v1/namespaces')
      await answer.arrayBuffer()
      return answer.status
    }
    expect(await ask()).toBe(200)
    await running.api.program.stop('SIGKILL')
    await expect(ask()).rejects.toThrow()
    await running.api.run()
    const ready = performance.now()
    const before = plugin.runs
    // The server fetches the issuer's keys again, and refuses tokens until then; clients recover from that.
    await until(async () => (await ask()) === 200)
    const more = plugin.runs - before
    await annotate(`recovered ${since(ready)} after the server; ${more} runs`, 'figures')
    // A server that refuses valid tokens is tried again after 1, 2, 4 s, minus up to a fifth.
    expect(more).toBeLessThanOrEqual(1 + Math.log2((performance.now() - ready) / 800 + 1))
    await ours.close()
  })

  it('that was suspended answers again when it continues, with the same credential', async ({
    annotate,
  }) => {
    const plugin = cluster.plugin().answer(cluster.token({ user: cluster.unique('suspended') }))
    const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
    /** Returns the status, or 0 if there was no response in time. */
    const ask = async (): Promise<number> => {
      try {
        const answer = await ours.fetch('/api/v1/namespaces', { signal: AbortSignal.timeout(2000) })
        await answer.arrayBuffer()
        return answer.status
      } catch {
        return 0
      }
    }
    await until(async () => (await ask()) === 200)
    const { runs } = plugin
    running.api.program.pause()
    // One on an open connection, the others on new ones, which the kernel accepts.
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([0, 0, 0])
    running.api.program.resume()
    const resumed = performance.now()
    await until(async () => (await ask()) === 200)
    await annotate(`recovered ${since(resumed)} after it continued; 0 runs`, 'figures')
    expect(plugin.runs).toBe(runs)
    await ours.close()
  })

  it('with a stopped store answers again after it continues, with the same credential', async ({
    annotate,
  }) => {
    const user = cluster.unique('patient')
    const plugin = cluster.plugin().answer(cluster.token({ user }))
    const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
    await until(async () => {
      const answer = await ours.fetch('/api/v1/namespaces')
      await answer.arrayBuffer()
      return answer.status === 200
    })
    const { runs } = plugin
    running.etcd.program.pause()
    const limit = AbortSignal.timeout(3000)
    // A write, which the server cannot answer from its cache.
    const body = JSON.stringify({ metadata: { name: cluster.unique('late') } })
    const headers = { 'content-type': 'application/json' }
    const write = ours.fetch('/api/v1/namespaces', { method: 'POST', headers, body, signal: limit })
    await expect(write).rejects.toThrow()
    running.etcd.program.resume()
    const resumed = performance.now()
    await until(async () => {
      const answer = await ours.fetch('/api/v1/namespaces', { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return answer.status === 201 || answer.status === 409
    })
    await annotate(`recovered ${since(resumed)} after its store; 0 runs`, 'figures')
    expect(plugin.runs).toBe(runs)
    await ours.close()
  })

  it('whose store was killed and started again has every object that it confirmed', async ({
    annotate,
  }) => {
    const namespace = await cluster.namespace()
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const plugin = cluster.plugin().answer(cluster.token({ user: cluster.unique('writer') }))
    const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
    const headers = { 'content-type': 'application/json' }
    /** Returns the status, or 0 if there was no response in time. */
    const create = async (name: string): Promise<number> => {
      const body = JSON.stringify({ metadata: { name } })
      const signal = AbortSignal.timeout(3000)
      try {
        const answer = await ours.fetch(path, { method: 'POST', headers, body, signal })
        await answer.arrayBuffer()
        return answer.status
      } catch {
        return 0
      }
    }
    await until(async () => [201, 409].includes(await create('first')))
    const confirmed = ['first']
    for (const name of ['second', 'third', 'fourth']) {
      expect(await create(name)).toBe(201)
      confirmed.push(name)
    }
    const { runs } = plugin
    await running.etcd.program.stop('SIGKILL')
    expect(await create('without-store')).not.toBe(201)
    await running.etcd.run()
    const started = performance.now()
    await until(async () => [201, 409].includes(await create('last')))
    await annotate(`recovered ${since(started)} after its store was started; 0 runs`, 'figures')
    const answer = await ours.fetch(path)
    const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] }
    const names = items.map(({ metadata }) => metadata.name)
    expect(names).toEqual(expect.arrayContaining([...confirmed, 'last']))
    expect(plugin.runs).toBe(runs)
    await ours.close()
  })
})

function since(begin: number): string {
  return `${((performance.now() - begin) / 1000).toFixed(1)} s`
}
