import type { Reporter, TestModule } from 'vitest/node'
import { show } from './page.ts'

const PREFIX = 'case × transport: '
const MARKS = { passed: 'yes', failed: 'NO', skipped: '–', pending: '?' } as const

/** Prints at the end which case passed with which transport. */
export class TableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cells = new Map<string, Map<string, string>>()
    for (const module of modules) {
      for (const suite of module.children.suites()) {
        if (!suite.name.startsWith(PREFIX)) continue
        for (const test of suite.children.allTests()) {
          const row = cells.get(test.name) ?? new Map<string, string>()
          row.set(suite.name.slice(PREFIX.length), MARKS[test.result().state])
          cells.set(test.name, row)
        }
      }
    }
    if (cells.size > 0) show('table', render(cells))
  }
}

/** One row per case, one numbered column per transport, because transport names are too long for columns. */
function render(cells: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const transports = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))]
  const numbers = transports.map((_, at) => `${at + 1}`)
  const lines = [...cells].map(([name, row]) => [
    name,
    ...transports.map((transport) => row.get(transport) ?? ''),
  ])
  const all = [['case', ...numbers], ...lines]
  const widths = ['case', ...numbers].map((_, at) =>
    Math.max(...all.map((line) => line[at]?.length ?? 0), 3),
  )
  const draw = (line: readonly string[]): string =>
    `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = draw(widths.map((width) => '-'.repeat(width)))
  const [head = [], ...rest] = all
  const legend = transports.map((transport, at) => `${at + 1}. ${transport}`)
  return [draw(head), rule, ...rest.map(draw), '', ...legend, ''].join('\n')
}
