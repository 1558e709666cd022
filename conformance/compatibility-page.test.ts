import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { notTyped, typedCases } from './differential/all-cases.ts'
import { clientGoCases } from './differential/client-go/all-scripts.ts'
import { loadDifferences } from './differential/differences.ts'
import { kubernetesVersion, report } from './differential/report.ts'

const { reasons, kubectl, 'client-go': clientGo } = loadDifferences()
const explained = [...Object.values(kubectl), ...Object.values(clientGo)]

describe('the differences from kubectl and client-go', () => {
  it('belong to existing cases', () => {
    const typed = typedCases.map(({ id }) => id)
    const played = clientGoCases.map(({ id }) => id)
    expect(Object.keys(kubectl).filter((id) => !typed.includes(id))).toEqual([])
    expect(Object.keys(clientGo).filter((id) => !played.includes(id))).toEqual([])
  })

  it('have a reason each, and every reason is used', () => {
    const given = new Set(explained.map(({ because }) => because))
    expect([...given].sort()).toEqual(Object.keys(reasons).sort())
    for (const [name, words] of Object.entries(reasons)) expect(words, name).toMatch(/^\S.*\.$/)
  })

  it('belong to cases with unique ids', () => {
    for (const cases of [typedCases, clientGoCases]) {
      const ids = cases.map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)])
    }
  })

  it('are looked for in every case of conformance/cases that has no reason against it', () => {
    for (const { id, why } of notTyped) expect(why, id).not.toBe('')
  })

  it('are from a client-go of the same version as kubectl', async () => {
    const { PROGRAMS }: { PROGRAMS: { name: string; go: { version: string } }[] } = await import(
      new URL('../tools/cluster/programs.mjs', import.meta.url).href
    )
    const kubectl = PROGRAMS.find(({ name }) => name === 'kubectl')
    expect(kubectl?.go.version).toBe(`v${kubernetesVersion()}`)
  })

  it('are in docs/compatibility.md as tools/compatibility-page.mjs writes them', async () => {
    const { withReport }: { withReport(page: string, report: string): string } = await import(
      new URL('../tools/compatibility-page.mjs', import.meta.url).href
    )
    const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8')
    expect(withReport(page, report())).toBe(page)
  })
})
