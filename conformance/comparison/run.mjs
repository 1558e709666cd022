// `npm run compare`: runs every scenario with every client, records the results, and writes the pages. It takes about ten
// minutes and needs Linux, Go, SoftHSM and OpenSC, and an idle machine. `npm run compare -- --pages` only writes the pages
// from the record.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, ratio } from '../../benchmarks/measure.mjs'
import { openScene } from '../../benchmarks/scene.mjs'
import { Client, findClients } from './client.mjs'
import { comparisonPage, withShortTable } from './pages.mjs'
import { SCENARIOS } from './scenarios.mjs'
import { signer } from './signer.mjs'

const RECORD = new URL('record.json', import.meta.url)
const PAGE = new URL('../../docs/comparison.md', import.meta.url)
const README = new URL('../../README.md', import.meta.url)
const ROUNDS = 5
const ROUND_MS = 2000

if (!process.argv.includes('--pages')) {
  writeFileSync(RECORD, `${JSON.stringify(await compare(), roundNumbers, 2)}\n`)
}
const record = JSON.parse(readFileSync(RECORD, 'utf8'))
writeFileSync(PAGE, comparisonPage(record))
writeFileSync(README, withShortTable(readFileSync(README, 'utf8'), record))
process.stdout.write(comparisonPage(record))
process.exit()

async function compare() {
  const load = Math.round(loadavg()[0])
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-compare-'))
  try {
    const clients = findClients(folder)
    const facts = Object.fromEntries(Object.keys(clients).map((id) => [id, {}]))
    for (const [name, scenario] of Object.entries({ ...SCENARIOS, signer })) {
      const play = async ([id, client]) => {
        process.stderr.write(`${name}: ${id}\n`)
        facts[id][name] = await scenario(client)
      }
      const all = Object.entries(clients)
      // A hanging plugin only takes time, so these run concurrently. All other scenarios run alone.
      if (name === 'hang') await Promise.all(all.map(play))
      else for (const each of all) await play(each)
    }
    const rates = await measureRates(clients)
    for (const id of Object.keys(clients)) facts[id].rate = rates[id]
    return {
      date: new Date().toISOString().slice(0, 10),
      cores: availableParallelism(),
      load,
      clients: Object.fromEntries(
        Object.entries(clients).map(([id, { version, runtime }]) => [id, { version, runtime }]),
      ),
      facts,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Measures small lists per second from a separate server, with alternating clients; the median of all rounds. */
async function measureRates(clients) {
  const server = await openScene()
  const opened = {}
  const rates = {}
  for (const [id, { command }] of Object.entries(clients)) {
    opened[id] = new Client(command)
    rates[id] = []
    await opened[id].do('open', { kubeconfig: server.kubeconfig })
  }
  const load = { workers: 8, ms: ROUND_MS, slowMs: ROUND_MS }
  for (const client of Object.values(opened)) await client.do('load', load)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [id, client] of Object.entries(opened)) {
      const { requests, failed } = await client.do('load', load)
      if (failed > 0) throw new Error(`${id}: ${failed} requests failed`)
      rates[id].push((requests / ROUND_MS) * 1000)
    }
  }
  for (const client of Object.values(opened)) await client.end()
  server.close()
  const base = median(rates['client-go'])
  return Object.fromEntries(
    Object.entries(rates).map(([id, all]) => [
      id,
      { perSecond: Math.round(median(all)), ratio: ratio(median(all), base) },
    ]),
  )
}

function roundNumbers(name, value) {
  return name === 'ms' ? Math.round(value) : value
}
