import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('docs/runtimes.md', root), 'utf8')

it('docs/runtimes.md has the tables that tools/runtimes/record.mjs writes', async () => {
  const tool: { withTables(page: string): string } = await import(
    new URL('tools/runtimes/record.mjs', root).href
  )
  expect(page).toBe(tool.withTables(page))
  expect(page).toMatch(/^\| Linux x64 +\| Bun /m)
})
