// What was measured: recorded.json. Its keys are sorted, so that a new run changes only the lines of what it measured.
import { readFileSync, writeFileSync } from 'node:fs'

const RECORD = new URL('recorded.json', import.meta.url)

/** Returns the coverage of each folder, and the mutants of each file. */
export function readRecord() {
  return JSON.parse(readFileSync(RECORD, 'utf8'))
}

export function writeRecord({ coverage, mutation }) {
  const record = { coverage: sorted(coverage), mutation: sorted(mutation) }
  writeFileSync(RECORD, `${JSON.stringify(record, undefined, 2)}\n`)
}

function sorted(values) {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
}
