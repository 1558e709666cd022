// Writes the tables of docs/testing.md from recorded.json. A test fails if they are outdated.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { markdownTable } from '../markdown-table.mjs'
import { readRecord } from './record.mjs'

const ROOT = new URL('../../', import.meta.url)
const PAGE = new URL('docs/testing.md', ROOT)

/** The folders without I/O whose tests must find at least 85 % of the mutants. */
export const TARGETS = ['core/lifecycle', 'core/keeper', 'core/vault', 'core/plugin', 'core/signer']

/** The folders with I/O that are measured too. */
const OTHERS = ['core/tls', 'core/request', 'core/proxy', 'cli/proxy']

/** Returns the page with new tables. */
export function testingPage(page, { coverage, mutation }) {
  const tables = { coverage: coverageTable(coverage), mutation: mutationTable(mutation) }
  return page.replace(
    /(<!-- (coverage|mutation): .*-->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin, name, end) => `${begin}\n${tables[name]}\n${end}`,
  )
}

/** Writes the tables. */
export function writePage() {
  writeFileSync(PAGE, testingPage(readFileSync(PAGE, 'utf8'), readRecord()))
}

function coverageTable(coverage) {
  const rows = Object.entries(coverage).map(([folder, { lines, branches, functions }]) => [
    `\`${folder}\``,
    ...[lines, branches, functions].map(percent),
  ])
  return markdownTable([['folder', 'lines', 'branches', 'functions'], ...rows])
}

function mutationTable(mutation) {
  const rows = [...TARGETS, ...OTHERS].map((folder) => {
    const { files, measured, found, missed, ignored, percent } = scoreOf(folder, mutation)
    const target = TARGETS.includes(folder) ? '85 %' : ''
    if (measured === 0)
      return [`\`${folder}\``, `0 of ${files}`, '', '', '', 'not measured', target]
    const counts = [found + missed, missed, ignored].map(String)
    return [`\`${folder}\``, `${measured} of ${files}`, ...counts, `${percent} %`, target]
  })
  const head = ['folder', 'files measured', 'mutants', 'not found', 'left out', 'score', 'target']
  return markdownTable([head, ...rows])
}

/** Returns how many of a folder's mutants were found, in the files measured so far. */
export function scoreOf(folder, mutation) {
  const [owner, ...rest] = folder.split('/')
  const sources = new URL(`packages/${owner}/src/${rest.join('/')}/`, ROOT)
  const files = existsSync(sources) ? readdirSync(sources).filter((name) => /\.ts$/.test(name)) : []
  const counts = files.flatMap((file) => mutation[`${folder}/${file}`] ?? [])
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0)
  const [found, missed, ignored] = ['found', 'missed', 'ignored'].map(sum)
  const tried = found + missed
  return {
    files: files.length,
    measured: counts.length,
    found,
    missed,
    ignored,
    percent: tried === 0 ? 100 : Math.floor((1000 * found) / tried) / 10,
  }
}

function percent({ covered, total }) {
  return total === 0 ? '' : `${Math.floor((1000 * covered) / total) / 10} %`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writePage()
}
