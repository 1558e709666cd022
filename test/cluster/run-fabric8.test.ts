import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ended } from '../../packages/cli/test/run/home.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { newest } from './run/kubectls.ts'
import { RunScene } from './run/run-scene.ts'

interface Finder {
  whyNoFabric8(): string | undefined
  findFabric8(report: (line: string) => void): Promise<string>
}

const { whyNoFabric8, findFabric8 }: Finder = await import(
  new URL('../../tools/cluster/find-fabric8.mjs', import.meta.url).href
)
const reason = process.env['CI'] === 'true' ? undefined : whyNoFabric8()
const PROGRAM = fileURLToPath(new URL('fabric8/Events.java', import.meta.url))

const INSTALL_MS = 300_000
const LIFE_MS = 5000
const MINUTE_MS = 60_000
const BETWEEN_MS = 500

const cluster = new TestCluster(inject('cluster'))
let scene: RunScene
let classPath: string

describe.skipIf(reason !== undefined)(
  `fabric8, in kubecred run${reason ? `: ${reason}` : ''}`,
  () => {
    beforeAll(async () => {
      classPath = await findFabric8((line) => process.stderr.write(`cluster: ${line}\n`))
      scene = await RunScene.open(cluster)
    }, INSTALL_MS)
    afterAll(() => scene?.[Symbol.asyncDispose]())

    it(
      'its informers and watches, which are WebSockets, lose no event in a minute with 5 s tokens',
      async ({ annotate }) => {
        const user = cluster.unique('java')
        const plugin = cluster.plugin()
        plugin.answer(cluster.token({ user, lifetimeMs: LIFE_MS }))
        using _ = plugin.answerAnew(() => cluster.token({ user, lifetimeMs: LIFE_MS }))
        const runner = {
          kubectl: newest(cluster.facts.programs),
          kubeconfig: scene.kubeconfig({ exec: plugin.exec }),
        }
        const java = ['java', '-cp', classPath, PROGRAM, scene.namespace]
        const running = scene.start(runner, java)
        await running.until('out', /^READY$/m)
        const expected = await change(scene.namespace)
        await until(() =>
          ['informer', 'watch'].every((who) => seen(running.out, who).length >= expected.length),
        )
        await ended(running)
        expect(seen(running.out, 'informer')).toEqual(expected)
        expect(seen(running.out, 'watch')).toEqual(expected)
        expect(plugin.runs).toBeGreaterThan(MINUTE_MS / LIFE_MS / 2)
        const watches = cluster
          .seen(`/namespaces/${scene.namespace}/configmaps`)
          .filter(({ verb, user: by }) => verb === 'watch' && by.username === user)
        expect(new Set(watches.map(({ responseStatus }) => responseStatus?.code))).toEqual(
          new Set([101]),
        )
        expect(watches.length).toBeGreaterThan(5)
        const figures = `${expected.length} events, none lost; ${watches.length} watches, ${plugin.runs} runs`
        await annotate(figures, 'figures')
      },
      MINUTE_MS * 3,
    )
  },
)

/** Creates, changes and deletes ConfigMaps for a minute. Returns the events that a watch must receive. */
async function change(namespace: string): Promise<string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const events: string[] = []
  const end = Date.now() + MINUTE_MS
  while (Date.now() < end) {
    const name = cluster.unique('map')
    await cluster.create(path, { metadata: { name } })
    await cluster.admin(
      'PATCH',
      `${path}/${name}`,
      { data: { changed: 'yes' } },
      'application/merge-patch+json',
    )
    await cluster.admin('DELETE', `${path}/${name}`)
    events.push(`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`)
    await pause(BETWEEN_MS)
  }
  return events
}

/** The events that the informer or the watch printed, in order. */
function seen(out: string, who: string): string[] {
  return [...out.matchAll(new RegExp(`^${who} (ADDED|MODIFIED|DELETED) (map-.*)$`, 'gm'))].map(
    ([, type, name]) => `${type} ${name}`,
  )
}
