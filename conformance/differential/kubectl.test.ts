import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { readPrograms } from '../../test/cluster/harness/read-programs.ts'
import { typedCases } from './all-cases.ts'
import { compare } from './compare.ts'
import { loadDifferences } from './differences.ts'
import { FoundDifferences } from './found-differences.ts'
import { summarize } from './summary.ts'
import { Turns } from './turns.ts'

const PROGRAM = fileURLToPath(new URL('../../packages/cli/bin/kubecred.cjs', import.meta.url))

const programs = {
  kubectl: { name: 'kubectl', start: [readPrograms().kubectl] },
  kubecred: { name: 'kubecred', start: [process.execPath, PROGRAM] },
} as const
const { kubectl: explained } = loadDifferences()
/** Limits the concurrency: each case starts two programs. */
const turns = new Turns(4)
const found = new FoundDifferences('kubectl')
afterAll(() => found.save())

describe.concurrent('kubectl and kubecred behave the same, or differ as in differences.json', () => {
  for (const each of typedCases) {
    it(`${each.id}: ${each.about}`, async () => {
      const differences = await turns.take(() => compare(each, programs))
      const summary = summarize(differences)
      found.add(each.id, summary)
      expect(summary, JSON.stringify(differences, null, 2)).toEqual(
        explained[each.id]?.differs ?? {},
      )
    })
  }
})
