// Runs the benchmarks and prints a table. Only ratios within one run have targets.
// npm run bench -- warm-request --runs 5
import { parseArgs } from 'node:util'
import { median } from './measure.mjs'

const names = [
  'warm-request',
  'undici',
  'client-go',
  'idle-clusters',
  'cold-storm',
  'rotation',
  'attach',
  'http2',
  'https-agent',
  'splice',
  'token',
  'start-up',
  'import',
  'many-contexts',
  'proxy',
  'run-proxy',
]
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // Several runs show the variance.
  options: { runs: { type: 'string', default: '1' } },
})
const runs = Number(values.runs)
for (const file of positionals.length > 0 ? positionals : names) {
  const { name, run } = await import(`./${file}.mjs`)
  process.stdout.write(`\n${name}\n`)
  const results = []
  for (let count = 0; count < runs; count += 1) results.push(await run())
  for (const [index, { what, target }] of results[0].entries()) {
    const goal = target === undefined ? '' : `   target ${target}`
    const value = summary(results.map((rows) => rows[index].value))
    process.stdout.write(`  ${what.padEnd(52)} ${value.padStart(10)}${goal}\n`)
  }
}
process.exit(0)

/** Returns the median; for several runs also the minimum and maximum. */
function summary(values) {
  if (values.length === 1 || values.some((value) => typeof value !== 'number'))
    return String(values[0])
  return `${median(values)} (${Math.min(...values)} to ${Math.max(...values)})`
}
