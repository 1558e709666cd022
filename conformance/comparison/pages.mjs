// Writes the record as docs/comparison.md, and the short table of the README.
import { ROWS } from './rows.mjs'

const BEGIN = '<!-- Written by npm run compare. Do not edit. -->'
const END = '<!-- Until here. -->'

/** The whole of docs/comparison.md. */
export function comparisonPage(record) {
  const ran = ROWS.filter(({ read }) => read === undefined)
  const read = ROWS.filter((row) => row.read !== undefined)
  return `# Comparison with other clients

For people who choose a client: how four clients behave when credentials expire, are revoked or fail. Run it yourself:

\`\`\`
npm run compare
\`\`\`

Every client ran as its own program, with its defaults, against the [sandbox](sandbox.md), on one machine (Linux,
${record.cores} cores, load average ${record.load} before the run), on ${record.date}. client-go ran without its limit of five
requests per second. kubectl is built on client-go; [compatibility.md](compatibility.md) compares it case by case.

Do not edit this page: \`npm run compare\` writes it from \`conformance/comparison/record.json\`.

${table(
  ['client', 'version', 'runtime'],
  Object.entries(record.clients).map(([id, { version, runtime }]) => [id, version, runtime]),
)}

## What was run

${table(head(record), rowsOf(ran, record))}

Timings differ between machines and runs; compare the order of magnitude. If plugins get too little processor time, requests
of kubecred wait too: in an earlier run at a load average of 19, 13 of 3,556 requests waited, and the rate was 0.67 of
client-go's. Over three runs that ratio was 0.57, 0.67 and 0.72. The scenarios are in
\`conformance/comparison/scenarios.mjs\` and \`signer.mjs\`.

## What was read

These cells were not run. The last column names the source.

${table(
  [...head(record), 'where'],
  rowsOf(read, record).map((cells, nth) => [...cells, read[nth].where]),
)}
`
}

/** The README with the short table in its place. */
export function withShortTable(readme, record) {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('README.md has no place for the comparison')
  const rows = ROWS.filter(({ short }) => short !== undefined).map((row) => ({
    ...row,
    what: row.short,
    cell: row.shortCell ?? row.cell,
    read: row.read && { ...row.read, ...row.shortRead },
  }))
  const text = table(head(record), rowsOf(rows, record))
  return `${readme.slice(0, begin)}${BEGIN}\n\n${text}\n\n${readme.slice(end)}`
}

function head({ clients }) {
  const names = Object.entries(clients).map(([id, { version }]) =>
    id.startsWith('client-node') ? `client-node ${version}` : `${id} ${version}`,
  )
  return ['', ...names]
}

function rowsOf(rows, { facts, clients }) {
  return rows.map(({ what, cell, read }) => [
    what,
    ...Object.keys(clients).map((id) => (read === undefined ? cell(facts[id]) : read[id])),
  ])
}

function table(head, rows) {
  const widths = head.map((_, nth) => Math.max(...[head, ...rows].map((row) => row[nth].length), 3))
  const line = (cells) => `| ${cells.map((cell, nth) => cell.padEnd(widths[nth])).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
