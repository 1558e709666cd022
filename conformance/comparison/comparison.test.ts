import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const record: unknown = JSON.parse(read('record.json'))

const pages: {
  comparisonPage(record: unknown): string
  withShortTable(readme: string, record: unknown): string
} = await import(new URL('pages.mjs', import.meta.url).href)

it('docs/comparison.md shows what npm run compare recorded', () => {
  expect(pages.comparisonPage(record)).toBe(read('../../docs/comparison.md'))
})

it('the README compares with what npm run compare recorded', () => {
  const readme = read('../../README.md')
  expect(pages.withShortTable(readme, record)).toBe(readme)
})
