import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CALLS } from '../../src/metrics/call-status.ts'
import { makeMetrics } from './scene.ts'

const page = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))

it('docs/metrics.md lists every metric with its type', async () => {
  const { register } = await makeMetrics()
  const known = register.getMetricsAsArray().map(({ name, type }) => [name, type])
  const documented = rows.filter(([, name]) => /^(rest_client|kubecred)_/.test(name ?? ''))
  expect(documented.map(([, name, type]) => [name, type])).toEqual(known)
})

it('docs/metrics.md says of every error how it is counted', () => {
  const documented = rows.filter(([, code]) => code?.startsWith('ERR_'))
  const known = Object.entries(CALLS).map(([code, row]) =>
    row === undefined ? [code, 'not counted', ''] : [code, row.status, String(row.code)],
  )
  const byCode = (a: unknown[], b: unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1)
  expect(documented.map(([, code, status, number]) => [code, status, number]).sort(byCode)).toEqual(
    known.sort(byCode),
  )
})

it('docs/metrics.md names no metric that does not exist', async () => {
  const { register } = await makeMetrics()
  const known = register.getMetricsAsArray().map(({ name }) => name)
  const named = page.match(/\b(?:rest_client_exec_plugin|kubecred)_[a-z_]+[a-z]/g) ?? []
  const base = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '')
  expect([...new Set(named.map(base))].filter((name) => !known.includes(name))).toEqual([])
})
