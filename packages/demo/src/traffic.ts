import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from 'kubecred'
import type { RequestSummary } from 'kubecred/proxy'
import { type Character, CONFIG_MAPS, type Deed } from './character.ts'
import type { Tally } from './tally.ts'

const REQUEST_AGAIN_MS = 700
const WATCH_AGAIN_MS = 1000
const WATCH = `${CONFIG_MAPS}?watch=true`

/** A request that has ended. */
export interface Done {
  readonly tookMs: number
  readonly isGood: boolean
}

export interface TrafficOptions {
  readonly tally: Tally
  readonly now: () => number
  readonly note: (note: RequestSummary) => void
  /** Told why a request failed: that should not happen. */
  readonly onFailure: (who: string, why: string) => void
}

/** The requests of everybody in the demo: a few per second, and a watch each. */
export class Traffic {
  readonly #options: TrafficOptions
  readonly #timers: NodeJS.Timeout[] = []
  readonly #underWay = new Map<string, Set<Promise<Done>>>()
  readonly #watches: Promise<void>[] = []
  readonly #ending = new AbortController()
  readonly #clusters = new Map<string, Cluster>()
  readonly #done = new Map<string, number>()

  constructor(options: TrafficOptions) {
    this.#options = options
  }

  /** Requests under way. */
  get open(): number {
    let open = this.#watches.length
    for (const each of this.#underWay.values()) open += each.size
    return open
  }

  /** Lets somebody begin. */
  join(character: Character, cluster: Cluster): void {
    const { id, deeds } = character
    this.#underWay.set(id, new Set())
    this.#clusters.set(id, cluster)
    this.#watches.push(this.#watch(id, cluster))
    let beat = 0
    const act = (): void => {
      const deed = deeds[beat % deeds.length]
      beat += 1
      if (deed !== undefined) this.#send(id, cluster, deed)
    }
    act()
    this.#timers.push(setInterval(act, REQUEST_AGAIN_MS))
  }

  /** Sends what somebody asks for anyway, several times at once. */
  burst({ id, deeds }: Character, times: number): void {
    const cluster = this.#clusters.get(id)
    const [deed] = deeds
    if (cluster === undefined || deed === undefined) return
    for (let sent = 0; sent < times; sent += 1) this.#send(id, cluster, deed)
  }

  /** What somebody waits for right now; each ends when its answer is there. */
  underWay(id: string): readonly Promise<Done>[] {
    return [...(this.#underWay.get(id) ?? [])]
  }

  /** How many requests of somebody have ended. */
  done(id: string): number {
    return this.#done.get(id) ?? 0
  }

  /** Begins nothing new, and waits for what was begun; watches are ended. */
  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([...this.#underWay.values()].flatMap((each) => [...each]))
    this.#ending.abort()
    await Promise.all(this.#watches)
  }

  #send(id: string, cluster: Cluster, deed: Deed): void {
    const all = this.#underWay.get(id)
    const done = this.#do(id, cluster, deed)
    all?.add(done)
    done.finally(() => all?.delete(done)).catch(() => {})
  }

  async #do(id: string, cluster: Cluster, { method, path, body }: Deed): Promise<Done> {
    const { tally, now, note, onFailure } = this.#options
    const at = now()
    const startedAt = performance.now()
    let status = 0
    let why = ''
    try {
      const response = await cluster.fetch(path, {
        method,
        ...(body && { body: JSON.stringify(body()), headers: { 'content-type': typeOf(method) } }),
      })
      status = response.status
      await response.arrayBuffer()
      if (status >= 400) why = `the server answered ${status}`
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
    }
    const tookMs = performance.now() - startedAt
    const isGood = why === ''
    tally.requests += 1
    this.#done.set(id, this.done(id) + 1)
    note({ at, method, path, status, tookMs, isUpgrade: false })
    if (!isGood) {
      tally.failed += 1
      onFailure(id, why)
    }
    return { tookMs, isGood }
  }

  /** Watches until the end. A watch that ends earlier is begun again, and counted. */
  async #watch(id: string, cluster: Cluster): Promise<void> {
    const { signal } = this.#ending
    const { tally, onFailure } = this.#options
    while (!signal.aborted) {
      try {
        const { body } = await cluster.fetch(WATCH, { signal })
        for await (const chunk of body ?? []) tally.watched += linesIn(chunk)
      } catch (error) {
        if (signal.aborted) return
        onFailure(id, `its watch ended: ${error instanceof Error ? error.message : String(error)}`)
      }
      if (signal.aborted) return
      tally.interrupted += 1
      await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }
}

function typeOf(method: Deed['method']): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
}

/** Each event of a watch is a line. */
function linesIn(chunk: Uint8Array): number {
  let lines = 0
  for (const byte of chunk) if (byte === 0x0a) lines += 1
  return lines
}
