import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('docs/testing.md', root), 'utf8')

it('docs/testing.md has the tables that tools/test-quality/testing-page.mjs writes', async () => {
  const tool: { testingPage(page: string, record: unknown): string } = await import(
    new URL('tools/test-quality/testing-page.mjs', root).href
  )
  const record: unknown = JSON.parse(
    readFileSync(new URL('tools/test-quality/recorded.json', root), 'utf8'),
  )
  expect(page).toBe(tool.testingPage(page, record))
  expect(page.match(/^\| `\w+\/\w+` /gm)?.length).toBeGreaterThan(8)
})
