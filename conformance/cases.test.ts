import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Case, loadCases, loadChecklist } from './case.ts'
import { runHintCase } from './run-hint.ts'
import { runIdentityCase } from './run-identity.ts'
import { runKubeconfigCase } from './run-kubeconfig.ts'
import { runMetricsCase } from './run-metrics.ts'
import { runPluginCase } from './run-plugin.ts'
import { runPolicyCase } from './run-policy.ts'
import { runRequestCase } from './run-request.ts'
import { runRoundTripCase } from './run-round-trip.ts'
import { runSignerCase } from './run-signer.ts'

const cases = loadCases()
const checklist = loadChecklist()

describe('kubecred behaves like client-go, or the case has a reason', () => {
  for (const { id, data } of cases) {
    if (data.skip === undefined) it(`${id}: ${data.rule}`, () => run(data))
    else it.skip(`${id}: ${data.rule} (${data.skip})`, () => {})
  }
})

describe('the suite', () => {
  it('has a case for every line of the check-list', () => {
    const covered = new Set(cases.map(({ data }) => data.upstream))
    expect(checklist.filter(({ id }) => !covered.has(id))).toEqual([])
  })

  it('has no case for a line that is not in the check-list', () => {
    const known = new Set(checklist.map(({ id }) => id))
    expect(cases.filter(({ data }) => !known.has(data.upstream)).map(({ id }) => id)).toEqual([])
  })

  it('has the right section in every case and in its file name', () => {
    const sections = new Map(checklist.map(({ id, section }) => [id, section]))
    for (const { id, data } of cases) {
      expect(data.section, id).toBe(sections.get(data.upstream))
      expect(id.startsWith(`${data.section}-`), id).toBe(true)
    }
  })

  it('has each line of the check-list once', () => {
    const ids = checklist.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)])
  })

  it('has a sentence as every rule', () => {
    for (const { id, data } of cases) expect(data.rule, id).toMatch(/^[A-Z].*\.$/)
  })

  it('skips only what has no counterpart, with a reason', () => {
    for (const { id, data } of cases) {
      if (data.skip === undefined) continue
      expect(data.skip, id).toMatch(/^there is no /)
    }
  })

  it('has every deviation in docs/compatibility.md', () => {
    const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8')
    const deviations = cases.filter(({ data }) => data.deviation !== undefined)
    expect(deviations.filter(({ id }) => !page.includes(`\`${id}\``)).map(({ id }) => id)).toEqual(
      [],
    )
  })

  it('has every case of docs/compatibility.md', () => {
    const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8')
    const named = [...page.matchAll(/`(\d\.\d-[a-z0-9-]+)`/g)].map(([, id]) => id)
    const known = cases.map(({ id }) => id)
    expect(named.filter((id) => !known.includes(id ?? ''))).toEqual([])
  })
})

function run(data: Case): Promise<void> {
  switch (data.kind) {
    case 'plugin':
      return runPluginCase(data)
    case 'policy':
      return runPolicyCase(data)
    case 'identity':
      return runIdentityCase(data)
    case 'request':
      return runRequestCase(data)
    case 'kubeconfig':
      return runKubeconfigCase(data)
    case 'hint':
      return runHintCase(data)
    case 'round-trip':
      return runRoundTripCase(data)
    case 'metrics':
      return runMetricsCase(data)
    case 'signer':
      return runSignerCase(data)
  }
}
