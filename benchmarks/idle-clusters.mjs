// Idle clusters in one process: memory, timers and descriptors of one to ten thousand, without a socket and with one each.
// Every count has a process of its own, because memory is not returned to the system.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { openScene } from './scene.mjs'

export const name = 'idle clusters in one process'
/** Memory varies little between runs, and ten thousand handshakes take half a minute. */
export const maxRuns = 3

const COUNTS = [1, 10, 100, 1000, 10_000]
const MAX_COUNT = 10_000
/** For a thousand clusters. */
const TARGETS = { idle: '≤ 16', connected: '≤ 90' }
const SERIES = { idle: 'without sockets', connected: 'with a socket each' }
/**
 * V8's young generation grows up to 48 MiB with what is allocated, whether any of it remains. Held at its minimum, the
 * memory of the process is that of the clusters.
 */
const FLAGS = [
  '--expose-gc',
  '--max-semi-space-size=1',
  // v8.queryObjects counts the timers.
  '--disable-warning=ExperimentalWarning',
]

export async function run() {
  if (process.platform !== 'linux') return [{ what: 'not run', value: 'needs Linux' }]
  const { url, close } = await openScene()
  const rows = []
  try {
    for (const count of COUNTS) rows.push(...rowsOf(count, await measure(count, url)))
  } finally {
    close()
  }
  return rows
}

async function measure(count, url) {
  const file = new URL('idle-clusters-process.mjs', import.meta.url)
  const child = fork(file, [String(count), url], { execArgv: FLAGS })
  const [facts] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([status]) => {
      throw new Error(`${count} clusters ended with status ${status}`)
    }),
  ])
  return facts
}

function rowsOf(x, facts) {
  return Object.entries(facts).flatMap(([state, fact]) => {
    const series = SERIES[state]
    const what = `${x.toLocaleString('en')} ${series}`
    if (typeof fact === 'string') return [{ what, value: fact }]
    const { bytes, added, timers, descriptors } = fact
    const plot = { chart: 'clusters', series, x }
    const rows = [{ what, unit: 'MiB in all', value: Math.round(bytes / 2 ** 20), plot }]
    if (x >= 1000) {
      const each = { what, unit: 'KiB each', value: Math.round((added / x / 1024) * 10) / 10 }
      rows.push(x === 1000 ? { ...each, target: TARGETS[state] } : each)
    }
    if (x === MAX_COUNT) {
      rows.push({ what, unit: 'timers', value: timers })
      rows.push({ what, unit: 'descriptors', value: descriptors })
    }
    return rows
  })
}
