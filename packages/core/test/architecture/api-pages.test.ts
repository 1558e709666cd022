import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Subpath {
  readonly name: string
  readonly page: string
  readonly exports: readonly string[]
}

const root = new URL('../../../../', import.meta.url)
const tool: { listSubpaths(): readonly Subpath[] } = await import(
  new URL('tools/exported-names.mjs', root).href
)
const subpaths = tool.listSubpaths()

it.each(subpaths)('the page $page has what the subpath exports', ({ page, exports }) => {
  const text = readFileSync(new URL(`docs/api/${page}.md`, root), 'utf8')
  const headings = [...text.matchAll(/^### (?:`abstract` )?([\w\\]+)/gm)].map(([, name = '']) =>
    name.replaceAll('\\', ''),
  )
  expect([...new Set(headings)].sort()).toEqual(exports)
})

it('docs/api has a page for every subpath, and an index', () => {
  const pages = [...subpaths.map(({ page }) => `${page}.md`), 'README.md']
  expect(readdirSync(new URL('docs/api/', root)).sort()).toEqual(pages.sort())
  const index = readFileSync(new URL('docs/api/README.md', root), 'utf8')
  for (const { page, exports } of subpaths) {
    expect(index).toContain(`](${page}.md): ${exports.map((name) => `\`${name}\``).join(', ')}\n`)
  }
})
