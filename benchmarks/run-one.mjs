// One run of one benchmark in a process of its own: what others compiled or left in memory does not affect it. Sends the
// rows to its parent.
//
// A benchmark exports `name`, its title; `run()`, which returns rows; and optionally `maxRuns`. A row is
//   what    what was measured
//   value   a number, or text that says why there is none
//   unit    of the value; a ratio has none
//   peer    of a ratio: whom we compare with
//   target  such as '≥ 0.85', '≤ 1.2' or '0'
//   plot    { chart, series, x }: the place of the value in a chart of docs/performance.md
const { name: title, maxRuns, run } = await import(`./${process.argv[2]}.mjs`)
try {
  process.send?.({ title, maxRuns, rows: await run() }, () => process.exit(0))
} catch (error) {
  process.stderr.write(`${error.stack}\n`)
  const rows = [{ what: 'failed', value: error.message.split('\n')[0] }]
  process.send?.({ title, rows, hasFailed: true }, () => process.exit(1))
}
