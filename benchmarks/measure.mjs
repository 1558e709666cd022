// Measures clients alternately, so that other load on the machine affects all of them alike.
const WORKERS = 8
const ROUND_MS = 1000
const ROUNDS = 9

/** Returns the requests per second of each client: the median of all rounds. */
export async function compareRates(clients, options) {
  return (await compareClients(clients, options)).map(({ rate }) => rate)
}

/** Returns the same, with the CPU time of this process per request in microseconds. */
export async function compareClients(clients, { workers = WORKERS } = {}) {
  const rounds = Object.fromEntries(Object.keys(clients).map((client) => [client, []]))
  for (const request of Object.values(clients)) await load(request, 500, workers)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [client, request] of Object.entries(clients)) {
      rounds[client].push(await load(request, ROUND_MS, workers))
    }
  }
  return Object.values(rounds).map((each) => ({
    rate: median(each.map(({ rate }) => rate)),
    cost: median(each.map(({ cost }) => cost)),
  }))
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

export function ratio(a, b) {
  return Math.round((a / b) * 100) / 100
}

async function load(request, milliseconds, workers) {
  const before = process.cpuUsage()
  const end = performance.now() + milliseconds
  let count = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < end) {
        const status = await request()
        if (status !== 200) throw new Error(`unexpected status ${status}`)
        count += 1
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return { rate: (count / milliseconds) * 1000, cost: (user + system) / count }
}
