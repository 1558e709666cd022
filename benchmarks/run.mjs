// Runs the benchmarks and prints a table. Every figure that matters is a ratio inside one run.
const names = [
  'warm-request',
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
  'proxy',
]
const wanted = process.argv.slice(2)
for (const file of wanted.length > 0 ? wanted : names) {
  const { name, run } = await import(`./${file}.mjs`)
  process.stdout.write(`\n${name}\n`)
  for (const { what, value, target } of await run()) {
    const goal = target === undefined ? '' : `   target ${target}`
    process.stdout.write(`  ${what.padEnd(52)} ${String(value).padStart(10)}${goal}\n`)
  }
}
process.exit(0)
