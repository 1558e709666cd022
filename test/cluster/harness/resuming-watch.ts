import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from 'kubecred'

interface Metadata {
  readonly name: string
  readonly resourceVersion: string
}

interface WatchEvent {
  readonly type: string
  readonly object: { readonly metadata: Metadata }
}

interface List {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly { readonly metadata: Metadata }[]
}

const AGAIN_MS = 100

/** Lists and watches with `cluster.fetch`, and again after the connection ends, as an informer does. */
export class ResumingWatch {
  /** The names of added objects, in order. */
  readonly added: string[] = []
  /** How often a watch was opened. */
  begun = 0
  readonly #cluster: Cluster
  readonly #path: string
  readonly #leave = new AbortController()
  readonly #work: Promise<void>

  constructor(cluster: Cluster, path: string) {
    this.#cluster = cluster
    this.#path = path
    this.#work = this.#run()
  }

  async stop(): Promise<void> {
    this.#leave.abort()
    await this.#work
  }

  async #run(): Promise<void> {
    while (!this.#leave.signal.aborted) {
      // The connection was cut, or the server is down.
      await this.#watchFrom(await this.#list()).catch(() => {})
      await pause(AGAIN_MS)
    }
  }

  /** Resolves to the resourceVersion of the first list: no later event is lost. */
  async #list(): Promise<string> {
    const { signal } = this.#leave
    while (!signal.aborted) {
      const answer = await this.#cluster.fetch(this.#path, { signal }).catch(() => undefined)
      const list = answer?.ok ? ((await answer.json().catch(() => undefined)) as List) : undefined
      if (list !== undefined) {
        const unknown = list.items.filter(({ metadata }) => !this.added.includes(metadata.name))
        this.added.push(...unknown.map(({ metadata }) => metadata.name))
        return list.metadata.resourceVersion
      }
      await pause(AGAIN_MS)
    }
    return ''
  }

  /** Rejects if the server reports that the resourceVersion is too old, as it may after a restart. */
  async #watchFrom(resourceVersion: string): Promise<void> {
    const query = new URLSearchParams({ watch: 'true', resourceVersion })
    const { signal } = this.#leave
    const answer = await this.#cluster.fetch(`${this.#path}?${query}`, { signal })
    if (!answer.ok) return
    this.begun += 1
    for await (const { type, object } of eventsOf(answer)) {
      if (type === 'ERROR') return
      if (type === 'ADDED') this.added.push(object.metadata.name)
    }
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<WatchEvent> {
  let rest = ''
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}
