import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientGoCases } from './client-go/all-scripts.ts'
import { ClientGoClient } from './client-go/client-go-client.ts'
import { KubecredClient } from './client-go/kubecred-client.ts'
import { playScript, type Seen } from './client-go/play.ts'
import { buildClientGo, hasClientGo } from './client-go/program.ts'
import { loadDifferences } from './differences.ts'
import { FoundDifferences } from './found-differences.ts'
import { summarize } from './summary.ts'

const BUILD_MS = 600_000
/** Retried, because these tests use real time and a busy machine delays them. A real difference occurs every time. */
const AGAIN = { retry: 2 }
const { 'client-go': explained } = loadDifferences()
const found = new FoundDifferences('client-go')
let program = ''
beforeAll(() => {
  if (hasClientGo()) program = buildClientGo()
}, BUILD_MS)
afterAll(() => found.save())

const title = 'client-go and kubecred do the same, or differ as differences.json says'
// Sequentially, because many of them depend on timing.
const suite = hasClientGo() ? describe : describe.skip
suite(hasClientGo() ? title : `${title} (needs: Go, to build conformance/client-go)`, () => {
  for (const script of clientGoCases) {
    it(`${script.id}: ${script.about}`, AGAIN, async () => {
      const theirs = await playScript(script, ({ folder }) => new ClientGoClient(program, folder))
      const ours = await playScript(script, ({ folder }) => new KubecredClient(folder))
      const summary = summarize(differencesOf(theirs.seen, ours.seen))
      found.add(script.id, summary)
      expect(summary, JSON.stringify({ theirs, ours }, null, 2)).toEqual(
        explained[script.id]?.differs ?? {},
      )
    })
  }
})

/** Compares the two runs observation by observation. */
function differencesOf(theirs: readonly Seen[], ours: readonly Seen[]) {
  const longer = theirs.length > ours.length ? theirs : ours
  return longer.flatMap((_, at) => {
    const [left, right] = [theirs[at] ?? {}, ours[at] ?? {}]
    return [...new Set([...Object.keys(left), ...Object.keys(right)])]
      .filter((aspect) => !isDeepStrictEqual(left[aspect], right[aspect]))
      .map((aspect) => ({ aspect, theirs: left[aspect], ours: right[aspect] }))
  })
}
