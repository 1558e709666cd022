// What ran where, and how it ended: recorded.json, and the tables of docs/runtimes.md that are written from it.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { markdownTable } from '../markdown-table.mjs'

const RECORD = new URL('recorded.json', import.meta.url)
const DIFFERENCES = new URL('../../test/runtimes/differences.json', import.meta.url)
const PAGE = new URL('../../docs/runtimes.md', import.meta.url)

if (process.argv[1] === fileURLToPath(import.meta.url)) writePage()

/**
 * Records one run, in place of an earlier one of the same name, and writes the tables of the page.
 *
 * @param {string} name Such as `linux-x64-node-20`; the rows of the table are sorted by it.
 * @param {{ platform: string, runtime: string, run: number, passed: number, failingAsWritten: number }} counts
 *   `run` are all tests that ran. Those that fail as written are counted apart from those that passed.
 */
export function recordRuntime(name, { platform, runtime, run, passed, failingAsWritten }) {
  const record = { ...readRecord(), [name]: { platform, runtime, run, passed, failingAsWritten } }
  const sorted = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`)
  writePage()
}

function writePage() {
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')))
}

/** Returns the page with its tables. */
export function withTables(page) {
  return between(between(page, 'counts', countsTable()), 'differences', differencesTable())
}

function countsTable() {
  const rows = Object.values(readRecord()).map((each) => [
    each.platform,
    each.runtime,
    ...[each.run, each.passed, each.failingAsWritten].map(String),
  ])
  return [['platform', 'runtime', 'tests run', 'passed', 'failing as written'], ...rows]
}

function readRecord() {
  return JSON.parse(readFileSync(RECORD, 'utf8'))
}

function differencesTable() {
  const list = JSON.parse(readFileSync(DIFFERENCES, 'utf8'))
  const rows = list.map(({ runtime, transport, behaviours, except, holds = false, reason }) => [
    runtime,
    transport,
    behaviours?.join(', ') ?? (except ? `all but ${except.join(', ')}` : 'all'),
    holds ? 'yes' : 'no',
    reason,
  ])
  return [['runtime', 'transport', 'behaviour', 'holds', 'because'], ...rows]
}

function between(page, name, rows) {
  const [begin, end] = [
    `<!-- ${name}: written by tools/runtimes/record.mjs, do not edit -->`,
    `<!-- end of ${name} -->`,
  ]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/runtimes.md has no place for the table ${name}`)
  return `${page.slice(0, from)}${begin}\n\n${markdownTable(rows)}\n${page.slice(to)}`
}
