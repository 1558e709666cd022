import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, it } from 'vitest'

// Each row of docs/reliability.md names the test that causes its fault.

const root = new URL('../../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const page = read('docs/reliability.md')

/** The rows of all tables, without their heads. */
const lines = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:fault |-)/.test(line))

const rows = lines.map((line) => {
  const [, fault = '', file = '', title = ''] =
    /^\| (.*?) +\|.*\| `([^`]+\.ts)`: (.*?) +\|$/.exec(line) ?? []
  return { fault, file, title }
})

/** Whether the tests of a file run: it is a test file, or one beside it imports it. */
function isRun(file: string): boolean {
  if (file.endsWith('.test.ts')) return true
  const folder = dirname(file)
  const tests = readdirSync(new URL(folder, root)).filter((name) => name.endsWith('.test.ts'))
  return tests.some((name) => read(`${folder}/${name}`).includes(`'./${basename(file)}'`))
}

describe('docs/reliability.md', () => {
  it('has a test in every row', () => {
    expect(rows.length).toBeGreaterThan(70)
    expect(rows.filter(({ title }) => title === '')).toEqual([])
    expect(new Set(rows.map(({ fault, file, title }) => fault + file + title)).size).toBe(
      rows.length,
    )
  })

  it.each(rows)('names an existing test that is run: $title', ({ file, title }) => {
    expect(existsSync(new URL(file, root))).toBe(true)
    expect(isRun(file)).toBe(true)
    const source = read(file)
    const quoted = [`'${title}'`, `"${title}"`, `\`${title}\``].filter((text) =>
      source.includes(text),
    )
    expect(quoted).toHaveLength(1)
    const [before = ''] = source.split(quoted[0] ?? '')
    expect(before).not.toMatch(/\.(?:skip|todo|fails)\(\s*$/)
  })

  it.each([
    ...['API server', 'etcd', 'Plugins', 'Signers', 'agent', 'proxy', 'Disk', 'Descriptors'],
    ...['Memory', 'Clock', 'Network', 'Signals'],
  ])('has a section about: %s', (part) => {
    const [, section = ''] = page.split(new RegExp(`^## .*\\b${part}\\b.*$`, 'm'))
    expect(section.split(/^## /m)[0]).toMatch(/^\| fault /m)
  })
})
