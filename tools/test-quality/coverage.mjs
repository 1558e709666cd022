// `npm run coverage`: runs the fast suite and measures which lines, branches and functions of the sources it runs. The
// figures of each folder go to recorded.json and from there to docs/testing.md; coverage/index.html has every line.
// With paths of tests, only those run and nothing is recorded.
import { readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runVitest } from '../run-vitest.mjs'
import { readRecord, writeRecord } from './record.mjs'
import { writePage } from './testing-page.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const KINDS = ['lines', 'branches', 'functions']

process.chdir(root)
const paths = process.argv.slice(2)
const passed = runVitest([
  ...paths,
  '--coverage.enabled',
  '--coverage.provider=custom',
  '--coverage.customProviderModule=tools/test-quality/coverage-provider.mjs',
  '--coverage.include=packages/{core,cli}/src/**/*.ts',
  '--coverage.reportsDirectory=coverage',
  ...['html', 'json-summary'].map((reporter) => `--coverage.reporter=${reporter}`),
])
if (!passed) process.exitCode = 1
else if (paths.length === 0) record()

function record() {
  const { total: _, ...files } = JSON.parse(readFileSync('coverage/coverage-summary.json', 'utf8'))
  const coverage = {}
  for (const [path, counts] of Object.entries(files)) {
    const [, owner, , ...folders] = dirname(relative(root, path)).split('/')
    for (const folder of [owner, `${owner}/${folders.join('/') || '*.ts'}`]) {
      coverage[folder] = sum(coverage[folder], counts)
    }
  }
  writeRecord({ ...readRecord(), coverage })
  writePage()
}

function sum(known, counts) {
  return Object.fromEntries(
    KINDS.map((kind) => {
      const { covered = 0, total = 0 } = known?.[kind] ?? {}
      return [kind, { covered: covered + counts[kind].covered, total: total + counts[kind].total }]
    }),
  )
}
