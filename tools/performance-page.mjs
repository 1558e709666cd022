// Writes docs/performance.md and its charts from benchmarks/recorded.json. A test fails if they are outdated.
// The record: npm run bench -- --record --json benchmarks/recorded.json
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { isLoss, medianOf, showValues, verdictOf } from '../benchmarks/verdict.mjs'
import { markdownTable } from './markdown-table.mjs'
import { lineChart } from './performance-chart.mjs'

const RECORD = new URL('../benchmarks/recorded.json', import.meta.url)
const DOCS = new URL('../docs/', import.meta.url)

const CHARTS = {
  'requests-at-once': {
    title: 'Requests per second, by requests at once',
    xLabel: 'requests at once',
    yLabel: 'requests per second',
    text: 'More is better. Ours and the pool of undici have 64 connections each, so beyond 64 requests wait for one; client-go sends all over one HTTP/2 connection.',
  },
  'cpu-at-once': {
    title: 'CPU time of a request, by requests at once',
    xLabel: 'requests at once',
    yLabel: 'µs of CPU per request',
    text: "Less is better. Only the client's process counts.",
  },
  'watch-events': {
    title: 'CPU time of one watch, by events per second',
    xLabel: 'events per second',
    yLabel: '% of a core',
    text: 'Less is better. Each event is a pod of 4 KB, parsed as JSON.',
  },
  clusters: {
    title: 'Memory of a process, by clusters',
    xLabel: 'clusters in one process',
    yLabel: 'MiB of the process',
    text: 'Less is better. Each cluster has a user of its own, so nothing is shared. A cluster without a socket has no timer and no descriptor; one with a socket has one of each.',
  },
  contexts: {
    title: 'Time of a command, by contexts of the kubeconfig',
    xLabel: 'contexts in the kubeconfig',
    yLabel: 'ms',
    text: 'Less is better. Every run reads the whole file, and `kubecred doctor` sends a request too.',
  },
}

/** Why a target is missed, from profiles. A reason is shown only while its row is missed. */
const REASONS = [
  {
    benchmark: 'client-go',
    what: /^with a signal/,
    reason:
      'Node needs about 14 µs to create an `AbortController`, to listen to its signal and to collect both, beside 36 µs for the request itself. A signal that several requests share costs nothing that can be measured.',
  },
  {
    benchmark: 'idle-clusters',
    what: /with a socket each/,
    reason: 'With a socket, about 70 KiB are those of a plain undici pool with one TLS connection.',
  },
  {
    benchmark: 'splice',
    what: /./,
    reason:
      'Node passes the data of a TLS connection that is not on a socket of its own through JavaScript, and copies it once more: 14 µs for each 64 KiB. The handshake is not affected. The ratio differs much between runs.',
  },
  {
    benchmark: 'http2',
    what: /./,
    reason:
      "On Node 20 a handler over `node:http2` that does nothing else needs 49 µs of CPU, the whole request of our pool 34 µs. A sixth of it is `deprecate` and `bind` inside Node's `request()`. On Node 24 the ratios were 0.69 with 8 at once and 0.9 with 64, in one run.",
  },
  {
    benchmark: 'cold-storm',
    what: /./,
    reason:
      'The plugin starts when all 10,000 requests are queued, 0.15 s after the first one, and the connections are opened when it has answered.',
  },
  {
    benchmark: 'start-up',
    what: /fetch/,
    reason:
      'Node 20 needs 27 ms to read its own root certificates, which it does also for a kubeconfig with a CA: one `https.get` with that CA and nothing else is 2.9. Compiling the program takes 21 ms. Where `NODE_EXTRA_CA_CERTS` is set, Node reads the roots at every start, and the ratio is 2.0.',
  },
  {
    benchmark: 'token',
    what: /./,
    reason:
      "Four fifths of the time in our file are Node's own `net` and its streams, without which the socket of the agent cannot be reached.",
  },
  {
    benchmark: 'run-command',
    what: /until the command runs/,
    reason:
      'Compiling the program takes 16 ms, evaluating it 12 ms, and the keys, the certificate and the server of the proxy 16 ms. The root certificates are read only while the command starts.',
  },
  {
    benchmark: 'run-proxy',
    what: /./,
    reason:
      'The client, the proxy, kube-apiserver and etcd share two cores, so what the proxy needs the server lacks. With rounds of a second the ratio was 0.77.',
  },
  {
    benchmark: 'import',
    what: /./,
    reason:
      "A third of the time is Node's own `net`, `tls`, `http` and `crypto`. undici and yaml are loaded later.",
  },
]

/** Returns the page as Markdown. */
export function performancePage({ machine, benchmarks }) {
  const rows = Object.entries(benchmarks).flatMap(([benchmark, { rows: own }]) =>
    own.map((row) => ({ ...row, benchmark: `\`${benchmark}\`` })),
  )
  const judged = rows.filter((row) => !['no target', 'not run'].includes(verdictOf(row)))
  const met = judged.filter((row) => verdictOf(row) === 'met').length
  return `# Performance

<!-- Written by tools/performance-page.mjs from benchmarks/recorded.json. Do not edit. -->

For people who ask what kubecred costs: how fast it is beside the clients that they use now, where it is slower, and how its
cost grows. Measure it on your own machine:

\`\`\`
npm run bench                       # every benchmark once
npm run bench -- warm-request --runs 5
npm run bench -- --help
\`\`\`

${met} of ${judged.length} targets are met. [Where we lose](#where-we-lose) lists the others, and every peer that is faster.

## Targets

A target is a limit for a ratio within one run, or for a count. Values are the median of all runs, with the smallest and the
largest.

${markdownTable([
  ['benchmark', 'what', 'compared with', 'value', 'target', 'verdict'],
  ...judged.map((row) => [row.benchmark, ...cells(row), row.target, verdictOf(row)]),
])}
${losses(rows)}
## How it was measured

- **Ratios.** The clients of a benchmark take turns in one run, so that other load on the machine affects all alike. Figures of
  different benchmarks, or of another day, cannot be compared; ratios can. A ratio above 1 means that we are better, except
  where the target has ≤.
- **Rounds.** After a warm-up each client has three rounds of half a second (nine of a second without \`--record\`). The median
  of the rounds is the value of a run. Every run has processes of its own.
- **Requests.** Every client sends the same headers, reads the whole body and parses it as JSON. Certificates are checked, except
  in \`cold-storm\`, \`http2\`, \`https-agent\` and \`idle-clusters\`. Ours has an observer in \`warm-request\` and \`client-go\`.
  _With a signal_ means an \`AbortController\` for every request. client-go is as it comes, without its limit of five requests
  per second; _HTTP/1.1_ means that it was held to it.
- **CPU time** is user and system time of the client's process. The server is another process and shares the cores.
- **Lists of 500 pods** have 2 MB of JSON, compressed to 130 KB as kube-apiserver does. client-go parses them into maps, not
  into its types.
- **A round trip of 20 ms** is made with network namespaces and the kernel's netem where that is possible, otherwise with a
  relay that delays; the figures say which. A relay has no packet loss, and no limit of the data on the way.
- **kube-apiserver** runs with etcd on the same machine and needs more CPU than its clients, so the difference in requests per
  second is small there.
- **Memory** is the resident memory after garbage collections. V8's young generation is held at 1 MiB, because its room for
  garbage would hide the clusters.

## The machine

${markdownTable([['part', 'here'], ...Object.entries(machine).map(([part, here]) => [part, String(here)])])}
## How cost grows

${Object.entries(CHARTS)
  .filter(([chart]) => Object.keys(seriesOf(chart, benchmarks)).length > 0)
  .map(([chart, { title, text }]) => `![${title}](performance/${chart}.svg)\n\n${text}\n`)
  .join('\n')}
## All figures

${Object.entries(benchmarks).map(section).join('\n')}`
}

/** Returns the charts by the names of their files. */
export function performanceCharts({ benchmarks }) {
  const drawn = Object.entries(CHARTS).flatMap(([chart, words]) => {
    const series = seriesOf(chart, benchmarks)
    return Object.keys(series).length > 0 ? [[`${chart}.svg`, lineChart(series, words)]] : []
  })
  return Object.fromEntries(drawn)
}

function losses(rows) {
  const missed = rows.filter((row) => verdictOf(row) === 'missed')
  const slower = rows.filter((row) => verdictOf(row) !== 'missed' && isLoss(row))
  const table = (own) =>
    markdownTable([
      ['benchmark', 'what', 'compared with', 'value', 'target'],
      ...own.map((row) => [row.benchmark, ...cells(row), row.target ?? '']),
    ])
  const missing =
    missed.length > 0
      ? `These targets are missed:\n\n${table(missed)}${reasons(missed)}`
      : 'No target is missed.\n'
  const beaten =
    slower.length > 0
      ? `\nThese meet their target or have none, and are on the wrong side of 1:\n\n${table(slower)}`
      : ''
  return `## Where we lose\n\n${missing}${beaten}`
}

function reasons(missed) {
  const lines = REASONS.filter(({ benchmark, what }) =>
    missed.some((row) => row.benchmark === `\`${benchmark}\`` && what.test(row.what)),
  ).map(({ benchmark, reason }) => `- \`${benchmark}\`: ${reason}\n`)
  return lines.length > 0 ? `\n${lines.join('')}` : ''
}

function section([name, { title, runs, date, commit, rows }]) {
  const often = runs === 1 ? 'one run' : `${runs} runs`
  const lines = rows.map((row) => [...cells(row), row.target ?? '', verdictOf(row)])
  const head = ['what', 'compared with', 'value', 'target', 'verdict']
  return `### ${capital(title)}\n\n\`${name}\`: ${often} on ${date}, commit ${commit}\n\n${markdownTable([head, ...lines])}`
}

function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function cells(row) {
  const what = row.unit === undefined ? row.what : `${row.what}, ${row.unit}`
  return [what, row.peer ?? '', showValues(row)]
}

/** Returns the points of a chart by series. */
function seriesOf(chart, benchmarks) {
  const series = {}
  for (const row of Object.values(benchmarks).flatMap(({ rows }) => rows)) {
    const median = medianOf(row)
    if (row.plot?.chart !== chart || median === undefined) continue
    const { series: name, x } = row.plot
    series[name] ??= []
    series[name].push({ x, median, low: Math.min(...row.values), high: Math.max(...row.values) })
  }
  return series
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const record = JSON.parse(readFileSync(RECORD, 'utf8'))
  const charts = new URL('performance/', DOCS)
  mkdirSync(charts, { recursive: true })
  writeFileSync(new URL('performance.md', DOCS), performancePage(record))
  for (const [file, svg] of Object.entries(performanceCharts(record))) {
    writeFileSync(new URL(file, charts), svg)
  }
}
