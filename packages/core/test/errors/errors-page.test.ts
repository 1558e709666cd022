import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CODES } from '../../src/errors/index.ts'

const root = new URL('../../../../', import.meta.url)

it('docs/errors.md is what tools/errors-page.mjs writes from the codes', async () => {
  const tool: { errorsPage(codes: typeof CODES): string } = await import(
    new URL('tools/errors-page.mjs', root).href
  )
  const page = readFileSync(new URL('docs/errors.md', root), 'utf8')
  expect(page).toBe(tool.errorsPage(CODES))
})

it('docs/errors.md has a row for every code', () => {
  const page = readFileSync(new URL('docs/errors.md', root), 'utf8')
  const rows = [...page.matchAll(/^\| `(ERR_\w+)` +\| \d+ +\|/gm)]
  expect(rows.map(([, code]) => code)).toEqual(Object.keys(CODES))
})
