import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../../../', import.meta.url)

it('docs/events.md is what tools/events-page.mjs writes', async () => {
  const tool: { eventsPage(): string } = await import(new URL('tools/events-page.mjs', root).href)
  expect(readFileSync(new URL('docs/events.md', root), 'utf8')).toBe(tool.eventsPage())
})
