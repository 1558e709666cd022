// Measures clients alternately, so that other load on the machine affects all of them alike.
/** `run.mjs --record` uses shorter rounds, because it makes five runs of each benchmark. */
export const isShort = process.env.KUBECRED_BENCH_SHORT === '1'

const WORKERS = 8
const WARM_UP_MS = 1000

export const ROUND_MS = isShort ? 500 : 1000
export const ROUNDS = isShort ? 3 : 9

/** Returns the requests per second of each client: the median of all rounds. */
export async function compareRates(clients, options) {
  return (await compareClients(clients, options)).map(({ rate }) => rate)
}

/**
 * Returns the same, with the CPU time of the client's process per request in microseconds.
 *
 * @param clients By name: a function that sends one request and returns its status, or an object with `load` for a client
 *   in another process.
 */
export async function compareClients(
  clients,
  { workers = WORKERS, rounds = ROUNDS, roundMs = ROUND_MS, warmUpMs = WARM_UP_MS } = {},
) {
  const loads = Object.values(clients).map((client) =>
    typeof client === 'function'
      ? (milliseconds) => loadHere(client, milliseconds, workers)
      : (milliseconds) => client.load(milliseconds, workers),
  )
  const results = loads.map(() => [])
  for (const load of loads) await load(warmUpMs)
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, load] of loads.entries()) results[index].push(await load(roundMs))
  }
  return results.map((each) => ({
    rate: median(each.map(({ rate }) => rate)),
    cost: median(each.map(({ cost }) => cost)),
  }))
}

/** Runs the clients and returns rows: what each did, and our ratio to each peer; above 1 ours is better. */
export async function compareWithPeers(
  ours,
  peers,
  { targets = {}, prefix = '', ...options } = {},
) {
  const names = [ours.name, ...Object.keys(peers)]
  const results = await compareClients({ [ours.name]: ours.client, ...peers }, options)
  const [own, ...others] = results
  const ratios = others.flatMap((other, index) => {
    const peer = names[index + 1]
    const row = (what, value, target) => ({
      what: `${prefix}${ours.name}, ${what}`,
      peer,
      value,
      ...(target !== undefined && { target }),
    })
    return [
      row('requests', ratio(own.rate, other.rate), targets[peer]?.rate),
      row('CPU time', ratio(other.cost, own.cost), targets[peer]?.cost),
    ]
  })
  return [
    ...results.map(({ rate }, index) => ({
      what: `${prefix}${names[index]}`,
      unit: 'requests/s',
      value: rounded(rate),
    })),
    ...results.map(({ cost }, index) => ({
      what: `${prefix}${names[index]}`,
      unit: 'µs of CPU',
      value: rounded(cost),
    })),
    ...ratios,
  ]
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

export function ratio(a, b) {
  return Math.round((a / b) * 100) / 100
}

/** Rounds to a whole number, small values to one decimal. */
export function rounded(value) {
  return value < 20 ? Math.round(value * 10) / 10 : Math.round(value)
}

async function loadHere(request, milliseconds, workers) {
  const before = process.cpuUsage()
  const begin = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() - begin < milliseconds) {
        const status = await request()
        if (status !== 200) throw new Error(`unexpected status ${status}`)
        count += 1
      }
    }),
  )
  // The last requests end after the round: with slow requests that is a good part of it.
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(before)
  return { rate: count / seconds, cost: (user + system) / count }
}
