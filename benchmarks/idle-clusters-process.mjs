// Opens clusters and sends what they cost to its parent: without sockets, then with one each.
// Arguments: the number of clusters and the address of the server.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import { connect } from 'kubecred'

const [number, server] = process.argv.slice(2)
const COUNT = Number(number)
/** For Node itself, and the connections of the parent. */
const OTHER_DESCRIPTORS = 100
const AT_ONCE = 16
const WARM_UP = 200

const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
// The code and the heap grow with the first clusters, whatever remains of them.
const gone = await openAll(WARM_UP)
await requestAll(gone)
await Promise.all(gone.map((each) => each.close()))
const before = measure()
const clusters = await openAll(COUNT)
const idle = measure(before)
const limit = maxDescriptors()
let connected = `not run: ulimit -n is ${limit}`
if (COUNT + OTHER_DESCRIPTORS <= limit) {
  await requestAll(clusters)
  connected = measure(before)
}
rmSync(folder, { recursive: true })
process.send?.({ idle, connected }, () => process.exit())

async function openAll(count) {
  const opened = []
  for (let index = 0; index < count; index += 1) opened.push(await open(`c${index}`))
  return opened
}

/** Opens clusters with different users, so that nothing is shared. */
async function open(name) {
  const kubeconfig = join(folder, name)
  // A CA of its own would add the memory of its certificate.
  const cluster = { server, 'insecure-skip-tls-verify': true }
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name, cluster }],
      users: [{ name, user: { token: 'benchmark' } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    }),
  )
  return connect({ kubeconfig })
}

async function requestAll(all) {
  const left = [...all]
  const work = async () => {
    for (let each = left.pop(); each !== undefined; each = left.pop()) {
      await (await each.fetch('/x')).json()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** The memory of the whole process, because TLS allocates outside the heap. */
function measure(from) {
  for (let count = 0; count < 3; count += 1) globalThis.gc()
  const bytes = process.memoryUsage().rss
  const descriptors = readdirSync('/proc/self/fd').length
  return { bytes, added: bytes - (from?.bytes ?? 0), timers: countTimers(), descriptors }
}

/** All timers on the heap, also those that do not keep the process alive. */
function countTimers() {
  const timer = setTimeout(() => {})
  clearTimeout(timer)
  return queryObjects(timer.constructor) - 1
}

function maxDescriptors() {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return Number(soft ?? 0)
}
