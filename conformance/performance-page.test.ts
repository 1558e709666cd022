import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = new URL('../', import.meta.url)

interface Row {
  readonly what: string
  readonly values: readonly (number | string)[]
  readonly peer?: string
  readonly unit?: string
  readonly target?: string
}

interface Tool {
  performancePage(record: unknown): string
  performanceCharts(record: unknown): Readonly<Record<string, string>>
}

interface Verdicts {
  readRow(row: object): Row
  showValues(row: Row): string
  verdictOf(row: Row): string
  isLoss(row: Row): boolean
}

const load = (path: string) => import(new URL(path, root).href)
const { performancePage, performanceCharts }: Tool = await load('tools/performance-page.mjs')
const { readRow, showValues, verdictOf, isLoss }: Verdicts = await load('benchmarks/verdict.mjs')
const text = readFileSync(new URL('benchmarks/recorded.json', root), 'utf8')
const record: unknown = JSON.parse(text)

describe('docs/performance.md', () => {
  it('is what tools/performance-page.mjs writes from benchmarks/recorded.json', () => {
    const page = readFileSync(new URL('docs/performance.md', root), 'utf8')
    expect(page).toBe(performancePage(record))
  })

  it('has the charts that the tool draws, and no others', () => {
    const folder = new URL('docs/performance/', root)
    const files = readdirSync(folder).map((name) => [
      name,
      readFileSync(new URL(name, folder), 'utf8'),
    ])
    expect(Object.fromEntries(files)).toEqual(performanceCharts(record))
  })

  it('is from a record without paths and addresses of the machine', () => {
    expect(text).not.toMatch(/\/(?:home|root|tmp|usr|work)\b|https?:|\d+\.\d+\.\d+\.\d+:/)
  })
})

describe('the verdict of a benchmark', () => {
  it.each([
    { target: '≥ 0.85', values: [0.85], verdict: 'met' },
    { target: '≥ 0.85', values: [0.84], verdict: 'missed' },
    { target: '≤ 1.2', values: [1.2], verdict: 'met' },
    { target: '≤ 1.2', values: [1.21], verdict: 'missed' },
    { target: '0', values: [0], verdict: 'met' },
    { target: '0', values: [1], verdict: 'missed' },
    { target: '≥ 1', values: [0.5, 1, 2], verdict: 'met' },
    { target: '≥ 1', values: [0.5, 0.9, 2], verdict: 'missed' },
    { target: '≥ 1', values: ['Go is not installed'], verdict: 'not run' },
    { target: 'about 8', values: [8], verdict: 'no target' },
    { target: undefined, values: [8], verdict: 'no target' },
  ])('of $values with the target $target is: $verdict', ({ target, values, verdict }) => {
    expect(verdictOf({ what: 'a', values, ...(target !== undefined && { target }) })).toBe(verdict)
  })

  it.each([
    { row: { what: 'a', peer: 'b', values: [0.9] }, loss: true },
    { row: { what: 'a', peer: 'b', values: [1] }, loss: false },
    { row: { what: 'a', peer: 'b', target: '≤ 2', values: [1.5] }, loss: true },
    { row: { what: 'a', peer: 'b', target: '≤ 2', values: [0.9] }, loss: false },
    { row: { what: 'a / b', target: '≥ 0.6', values: [0.7] }, loss: true },
    { row: { what: 'a / b', values: [0.7] }, loss: false },
    { row: { what: 'a', target: '0', values: [0] }, loss: false },
    { row: { what: 'a', unit: 'KiB each', target: '≤ 16', values: [12] }, loss: false },
  ])('$row is a loss: $loss', ({ row, loss }) => {
    expect(isLoss(row)).toBe(loss)
  })

  it('uses the median, and shows the smallest and the largest value', () => {
    expect(showValues({ what: 'a', values: [3, 1, 2000.4] })).toBe('3 (1–2,000)')
    expect(showValues({ what: 'a', values: [0.876] })).toBe('0.88')
    expect(showValues({ what: 'a', values: ['no kubectl'] })).toBe('no kubectl')
  })

  it('reads values with a unit, targets in ASCII, and text that says why there is no value', () => {
    expect(readRow({ what: 'a', value: '81 ms' })).toEqual({ what: 'a', unit: 'ms', values: [81] })
    expect(readRow({ what: 'a', value: '0.9' })).toEqual({ what: 'a', values: [0.9] })
    expect(readRow({ what: 'a', value: 2, target: '<= 1.2' })).toEqual({
      what: 'a',
      target: '≤ 1.2',
      values: [2],
    })
    expect(readRow({ what: 'a', value: 'no Go' })).toEqual({ what: 'a', values: ['no Go'] })
  })
})

describe('npm run bench', () => {
  const bench = (...args: string[]) => {
    const file = fileURLToPath(new URL('benchmarks/run.mjs', root))
    return spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })
  }

  it('explains itself', () => {
    const { status, stdout } = bench('--help')
    expect(status).toBe(0)
    expect(stdout).toContain('--json FILE')
  })

  it.each([[['no-such-benchmark']], [['--runs', 'x']]])('refuses %j', (args) => {
    const { status, stderr } = bench(...args)
    expect(status).toBe(2)
    expect(stderr).toMatch(/no benchmark no-such-benchmark|wrong --runs/)
  })
})
