// Runs the benchmarks and prints a table; `--help` says how. Only ratios within one run have targets.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeCommit, describeMachine } from './machine.mjs'
import { tableHead, tableRow } from './table.mjs'
import { readRow } from './verdict.mjs'

const NAMES = [
  'warm-request',
  'undici',
  'client-go',
  'pod-list',
  'round-trip',
  'api-server',
  'attach',
  'https-agent',
  'http2',
  'requests-at-once',
  'watch-events',
  'idle-clusters',
  'many-contexts',
  'cold-storm',
  'rotation',
  'splice',
  'token',
  'start-up',
  'run-command',
  'import',
  'proxy',
  'run-proxy',
]

const RECORDED_RUNS = '5'

const HELP = `Usage: npm run bench -- [NAME…] [FLAGS]

Runs the benchmarks and prints one table: what was measured, whom we compare with,
the value, its target and the verdict. With several runs the value is the median,
with the smallest and the largest. A ratio to a peer above 1 means that we are
better, except for targets with ≤.

  --runs N       how often each benchmark runs (1)
  --record       five runs with shorter rounds, about 25 minutes in all
  --json FILE    writes the values of every run; benchmarks that are in the file
                 and did not run now stay, if they are from the same machine
  --help

Names: ${NAMES.join(', ')}.
By hand only: pod-memory, proxy-soak, register, walk.
docs/performance.md: npm run bench -- --record --json benchmarks/recorded.json,
then node tools/performance-page.mjs.
`

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string' },
    record: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const runs = Number(flags.runs ?? (flags.record ? RECORDED_RUNS : '1'))
const unknown = positionals.filter((name) => !existsSync(new URL(`${name}.mjs`, import.meta.url)))
if (flags.help) process.stdout.write(HELP)
else if (unknown.length > 0 || !(runs >= 1)) {
  const problem = unknown.length > 0 ? `no benchmark ${unknown.join(', ')}` : 'wrong --runs'
  process.stderr.write(`${problem}\n\n${HELP}`)
  process.exitCode = 2
} else await runAll(positionals.length > 0 ? positionals : NAMES)

async function runAll(names) {
  const record = flags.json === undefined ? undefined : openRecord(flags.json)
  process.stdout.write(tableHead())
  for (const name of names) {
    const { title, rows, runs: made, hasFailed } = await runOften(name)
    process.stdout.write(`\n${title}\n${rows.map(tableRow).join('')}`)
    if (hasFailed) process.exitCode = 1
    else record?.add(name, { title, runs: made, rows })
  }
}

/** Runs a benchmark and returns its rows with the values of all runs. */
async function runOften(name) {
  const all = await runOnce(name)
  const often = Math.min(runs, all.maxRuns ?? runs)
  for (let count = 1; count < often && !all.hasFailed; count += 1) {
    const next = await runOnce(name)
    if (next.hasFailed) return next
    if (next.rows.length !== all.rows.length) throw new Error(`${name} returned other rows`)
    for (const [index, { values }] of next.rows.entries()) all.rows[index].values.push(...values)
  }
  return { ...all, runs: often }
}

async function runOnce(name) {
  const env = { ...process.env, ...(flags.record && { KUBECRED_BENCH_SHORT: '1' }) }
  const file = new URL('run-one.mjs', import.meta.url)
  // Memory is measured after garbage collections.
  const child = fork(file, [name], { env, execArgv: ['--expose-gc'] })
  const [result] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => [failed(`ended with status ${status}`)]),
  ])
  if (child.exitCode === null) await once(child, 'exit')
  return { title: name, ...result, rows: result.rows.map(readRow) }
}

function failed(value) {
  return { rows: [{ what: 'failed', value }], hasFailed: true }
}

/** Opens the record. It is written after each benchmark, so that an interrupted run is not lost. */
function openRecord(path) {
  const machine = describeMachine()
  const record = existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'))
    : { machine, benchmarks: {} }
  if (JSON.stringify(record.machine) !== JSON.stringify(machine)) {
    throw new Error(
      `${path} is from another machine or other versions: remove it or use another file`,
    )
  }
  const facts = { date: new Date().toISOString().slice(0, 10), commit: describeCommit() }
  return {
    add(name, { title, runs: made, rows }) {
      record.benchmarks[name] = { title, ...facts, runs: made, rows }
      // In the order of the table, wherever the pieces came from.
      const order = [...new Set([...NAMES, ...Object.keys(record.benchmarks)])]
      record.benchmarks = Object.fromEntries(
        order.flatMap((each) =>
          each in record.benchmarks ? [[each, record.benchmarks[each]]] : [],
        ),
      )
      writeFileSync(path, writeRecord(record))
    },
  }
}

/** Writes one row per line, so that a difference between two records can be read. */
function writeRecord({ machine, benchmarks }) {
  const each = Object.entries(benchmarks).map(([name, { rows, ...facts }]) => {
    const lines = rows.map((row) => `      ${JSON.stringify(row)}`).join(',\n')
    const head = JSON.stringify(facts).slice(0, -1)
    return `    ${JSON.stringify(name)}: ${head}, "rows": [\n${lines}\n    ]}`
  })
  const about = JSON.stringify(machine)
  return `{\n  "machine": ${about},\n  "benchmarks": {\n${each.join(',\n')}\n  }\n}\n`
}
