// One run of one benchmark in a process of its own: what others compiled or left in memory does not affect it. Sends the
// rows to its parent.
const { name: title, maxRuns, run } = await import(`./${process.argv[2]}.mjs`)
try {
  process.send?.({ title, maxRuns, rows: await run() }, () => process.exit(0))
} catch (error) {
  process.stderr.write(`${error.stack}\n`)
  const rows = [{ what: 'failed', value: error.message.split('\n')[0] }]
  process.send?.({ title, rows, hasFailed: true }, () => process.exit(1))
}
