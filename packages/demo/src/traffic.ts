import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from 'kubecred'
import type { RequestSummary } from 'kubecred/proxy'
import type { Counters } from './counters.ts'
import { CONFIG_MAPS, type DemoRequest, type DemoUser } from './demo-user.ts'

const REQUEST_INTERVAL_MS = 700
const WATCH_RETRY_MS = 1000
const WATCH = `${CONFIG_MAPS}?watch=true`

/** The result of a request. */
export interface RequestResult {
  readonly tookMs: number
  readonly isOk: boolean
}

/** What the traffic needs. */
export interface TrafficOptions {
  readonly counters: Counters
  readonly now: () => number
  readonly note: (note: RequestSummary) => void
  /** Called when a request has failed, which should not happen. */
  readonly onFailure: (user: string, reason: string) => void
}

/** Sends the requests of all users: one or two per second, and a watch each. */
export class Traffic {
  readonly #options: TrafficOptions
  readonly #timers: NodeJS.Timeout[] = []
  readonly #pending = new Map<string, Set<Promise<RequestResult>>>()
  readonly #watches: Promise<void>[] = []
  readonly #stopping = new AbortController()
  readonly #clusters = new Map<string, Cluster>()
  readonly #completed = new Map<string, number>()

  constructor(options: TrafficOptions) {
    this.#options = options
  }

  /** The number of open requests. */
  get open(): number {
    let open = this.#watches.length
    for (const each of this.#pending.values()) open += each.size
    return open
  }

  /** Starts to send the requests of a user. */
  start(user: DemoUser, cluster: Cluster): void {
    const { id, requests } = user
    this.#pending.set(id, new Set())
    this.#clusters.set(id, cluster)
    this.#watches.push(this.#watch(id, cluster))
    let turn = 0
    const sendNext = (): void => {
      const request = requests[turn % requests.length]
      turn += 1
      if (request !== undefined) this.#send(id, cluster, request)
    }
    sendNext()
    this.#timers.push(setInterval(sendNext, REQUEST_INTERVAL_MS))
  }

  /** Sends the first request of a user several times in parallel. */
  burst({ id, requests }: DemoUser, times: number): void {
    const cluster = this.#clusters.get(id)
    const [request] = requests
    if (cluster === undefined || request === undefined) return
    for (let sent = 0; sent < times; sent += 1) this.#send(id, cluster, request)
  }

  /** Returns the open requests of a user; each resolves when it has completed. */
  pending(id: string): readonly Promise<RequestResult>[] {
    return [...(this.#pending.get(id) ?? [])]
  }

  /** Returns how many requests of a user have completed. */
  completed(id: string): number {
    return this.#completed.get(id) ?? 0
  }

  /** Sends no more requests, waits for the open ones, and ends the watches. */
  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([...this.#pending.values()].flatMap((each) => [...each]))
    this.#stopping.abort()
    await Promise.all(this.#watches)
  }

  #send(id: string, cluster: Cluster, request: DemoRequest): void {
    const all = this.#pending.get(id)
    const done = this.#request(id, cluster, request)
    all?.add(done)
    done.finally(() => all?.delete(done)).catch(() => {})
  }

  async #request(
    id: string,
    cluster: Cluster,
    { method, path, body }: DemoRequest,
  ): Promise<RequestResult> {
    const { counters, now, note, onFailure } = this.#options
    const at = now()
    const startedAt = performance.now()
    let status = 0
    let reason = ''
    try {
      const response = await cluster.fetch(path, {
        method,
        ...(body && { body: JSON.stringify(body()), headers: { 'content-type': typeOf(method) } }),
      })
      status = response.status
      await response.arrayBuffer()
      if (status >= 400) reason = `the server answered ${status}`
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
    }
    const tookMs = performance.now() - startedAt
    const isOk = reason === ''
    counters.requests += 1
    this.#completed.set(id, this.completed(id) + 1)
    note({ at, method, path, status, tookMs, isUpgrade: false })
    if (!isOk) {
      counters.failed += 1
      onFailure(id, reason)
    }
    return { tookMs, isOk }
  }

  /** Watches until the demo stops. A watch that ends earlier is counted and restarted. */
  async #watch(id: string, cluster: Cluster): Promise<void> {
    const { signal } = this.#stopping
    const { counters, onFailure } = this.#options
    while (!signal.aborted) {
      try {
        const { body } = await cluster.fetch(WATCH, { signal })
        for await (const chunk of body ?? []) counters.watched += linesIn(chunk)
      } catch (error) {
        if (signal.aborted) return
        onFailure(id, `its watch ended: ${error instanceof Error ? error.message : String(error)}`)
      }
      if (signal.aborted) return
      counters.interrupted += 1
      await sleep(WATCH_RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}

function typeOf(method: DemoRequest['method']): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
}

/** Counts the events in a chunk of a watch: each event is a line. */
function linesIn(chunk: Uint8Array): number {
  let lines = 0
  for (const byte of chunk) if (byte === 0x0a) lines += 1
  return lines
}
