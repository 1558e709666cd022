// The common part of the JavaScript clients: reads one order per line from standard input, and writes one answer per line
// to standard output, both JSON. clients/client-go/main.go follows the same orders.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 25

/**
 * @param open Opens a client from the path of a kubeconfig. It has `list()`, which lists namespaces and resolves to the
 *   status, and `follow(kind, onName, onEnd)`, which opens a watch or an informer of namespaces.
 */
export async function followOrders(open) {
  let client
  const seen = { names: new Set(), hasEnded: false }

  const attempt = async () => {
    const startedAt = performance.now()
    const result = await client.list().then(
      (status) => ({ status }),
      (error) => (typeof error.code === 'number' ? { status: error.code } : { error: say(error) }),
    )
    return { ...result, ms: performance.now() - startedAt }
  }

  const orders = {
    async open({ kubeconfig }) {
      client = await open(kubeconfig)
      return {}
    },

    /** Sends concurrent requests; does not wait longer than `waitMs` for them. */
    async send({ times, waitMs }) {
      const late = pause(waitMs, { waiting: true, ms: waitMs }, { ref: false })
      return {
        results: await Promise.all(
          Array.from({ length: times }, () => Promise.race([attempt(), late])),
        ),
      }
    },

    /** Workers that send one request after the other. */
    async load({ workers, ms, slowMs }) {
      const end = performance.now() + ms
      const result = { requests: 0, failed: 0, slow: 0 }
      const work = async () => {
        while (performance.now() < end) {
          const { status, ms: took } = await attempt()
          result.requests += 1
          if (status !== 200) result.failed += 1
          if (took > slowMs) result.slow += 1
        }
      }
      await Promise.all(Array.from({ length: workers }, work))
      return result
    },

    async follow({ kind }) {
      await client.follow(
        kind,
        (name) => seen.names.add(name),
        () => {
          seen.hasEnded = true
        },
      )
      return {}
    },

    /** Whether the watch or informer reported a namespace, and whether it is still open. */
    async saw({ name, waitMs }) {
      const end = performance.now() + waitMs
      while (!seen.names.has(name) && performance.now() < end) await pause(LOOK_MS)
      return { seen: seen.names.has(name), open: !seen.hasEnded }
    },
  }

  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line)
    const answer = await orders[order.do](order).catch((error) => ({ error: say(error) }))
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  }
  process.exit()
}

function say(error) {
  const code = typeof error.code === 'string' ? `${error.code}: ` : ''
  return `${code}${error.message}`
}
