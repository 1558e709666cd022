import { type Cluster, type Observer, VERSION } from 'kubecred'
import type { RequestSummary } from 'kubecred/proxy'
import type { Snapshot } from './snapshot.ts'
import { Timeline } from './timeline.ts'
import { WatchedIdentity } from './tracked-identity.ts'
import { TrafficMeter } from './traffic-meter.ts'

/** What a listener is told: something happened to a credential, or only requests went through. */
export type Change = 'news' | 'traffic'

/** How somebody who made a connection shows it on the page. */
export interface IdentityHandle {
  /** For `connect()`. */
  readonly observer: Observer
  /** The connection, once there is one. */
  attach(cluster: Cluster): void
  /** Takes it off the page. What happened stays on the timeline. */
  remove(): void
}

/**
 * What the engine is doing now, gathered from its events and from the requests that went through.
 *
 * Takes a bounded amount of memory for each identity and none for a request. Holds no secret.
 */
export class LiveState {
  readonly #title: string
  readonly #now: () => number
  readonly #startedAt: number
  readonly #identities = new Map<string, WatchedIdentity>()
  readonly #timeline = new Timeline()
  readonly #traffic: TrafficMeter
  readonly #openReaders: (() => number)[] = []
  readonly #listeners = new Set<(change: Change) => void>()

  constructor({ title, now }: { readonly title: string; readonly now: () => number }) {
    this.#title = title
    this.#now = now
    this.#startedAt = now()
    this.#traffic = new TrafficMeter(now)
  }

  /** Adds an identity. Give `observer` to `connect()` first, then the cluster to `attach`. */
  identity(id: string, title: string): IdentityHandle {
    if (this.#identities.has(id)) throw new TypeError(`the page shows "${id}" already`)
    const watched: WatchedIdentity = new WatchedIdentity(id, title, {
      now: this.#now,
      onNews: (facts) => {
        if (facts !== undefined) this.#timeline.add(this.#now(), watched, facts)
        this.#tell('news')
      },
    })
    this.#identities.set(id, watched)
    return {
      observer: watched.observer,
      attach: watched.attach,
      remove: () => {
        // Another may have taken its place.
        if (this.#identities.get(id) === watched) this.#identities.delete(id)
        this.#tell('news')
      },
    }
  }

  /** Undefined when there is no such identity, or none any more. */
  find(id: string): WatchedIdentity | undefined {
    return this.#identities.get(id)
  }

  /** Counts a request that is done; a proxy's `onRequest`. */
  readonly recordRequest = (note: RequestSummary): void => {
    this.#traffic.note(note)
    this.#tell('traffic')
  }

  /** Says how to ask how many requests are under way. Several add up. */
  countOpen(read: () => number): void {
    this.#openReaders.push(read)
  }

  /** Calls back on every change, until told to stop. It must be quick. */
  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @param after The number of the last moment that the reader knows. */
  snapshot(after = 0): Snapshot {
    const views = Array.from(this.#identities.values(), (each) => each.view())
    return {
      now: this.#now(),
      startedAt: this.#startedAt,
      version: VERSION,
      title: this.#title,
      identities: views.filter((view) => view !== undefined),
      timeline: this.#timeline.after(after),
      traffic: this.#traffic.read(this.#openReaders.reduce((sum, read) => sum + read(), 0)),
    }
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }
}
