import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { KOPF_TESTS } from './names.ts'

const root = new URL('../../../../../', import.meta.url)
const page = readFileSync(new URL('docs/kopf.md', root), 'utf8')

/** A row of the page: the cells of a table, and the heading it stands under. */
interface Row {
  readonly heading: string
  readonly cells: readonly string[]
}

const rows: readonly Row[] = page.split(/^#{2,3} /m).flatMap((section) => {
  const [heading = '', ...lines] = section.split('\n')
  const [, , ...data] = lines.filter((line) => line.startsWith('|'))
  return data.map((line) => ({
    heading,
    cells: line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  }))
})

/** Rows that point at a case: their last cell is a test file, the one before it a title. */
const cases = rows.flatMap(({ cells }) => {
  const file = /^`(\S+\.test\.ts)`$/.exec(cells.at(-1) ?? '')?.[1]
  return file === undefined ? [] : [{ file, title: cells.at(-2) ?? '' }]
})

describe('docs/kopf.md', () => {
  it.each(Object.keys(KOPF_TESTS))('names every test of %s, and no other', (file) => {
    const named = rows
      .filter(({ heading }) => heading === file)
      .map(({ cells }) => cells[0]?.replaceAll('`', ''))
    expect([...new Set(named)]).toEqual(KOPF_TESTS[file])
  })

  it('says for each a case, or why there is none', () => {
    const tests = rows.filter(({ heading }) => Object.hasOwn(KOPF_TESTS, heading))
    for (const { cells } of tests) {
      const [name, says = '', file] = cells
      expect(says.startsWith('— '), name).toBe(file === '')
      expect(says.length, name).toBeGreaterThan(5)
    }
  })

  it('points only at cases that exist', () => {
    expect(cases.length).toBeGreaterThan(100)
    const missing = cases.filter(({ file, title }) => !hasCase(file, title))
    expect(missing).toEqual([])
  })

  it('says so where a case is known to fail', () => {
    const better = rows.filter(({ heading }) => heading === 'Better')
    for (const { cells } of better) {
      const [, what = '', title = '', file = ''] = cells
      const isFailing = textOf(file.replaceAll('`', '')).includes(`it.fails('${title}'`)
      expect(what.endsWith('(here too, for now)'), title).toBe(isFailing)
    }
  })

  it('has a case for each flaw and each need', () => {
    const there = rows.filter(({ heading }) => heading === 'Better').map(({ cells }) => cells[0])
    const needs = Array.from({ length: 12 }, (_, index) => `need ${index + 1}`)
    expect(there).toEqual(expect.arrayContaining(['4.1', '5.5', '6.4', '6.5', ...needs]))
  })
})

/** Whether a test file has a case of this title, which stands where `it` takes it. */
function hasCase(file: string, title: string): boolean {
  const text = textOf(file)
  return ["'", '"', '`'].some((quote) => {
    const at = text.indexOf(`${quote}${title}${quote}`)
    const before = text.slice(0, Math.max(at, 0))
    return /\(\s*$/.test(before) && !/describe[^\n]*\(\s*$/.test(before)
  })
}

function textOf(file: string): string {
  return readFileSync(new URL(`packages/core/test/${file}`, root), 'utf8')
}
