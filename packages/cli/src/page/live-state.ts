import { type Cluster, type Observer, VERSION } from 'kubecred'
import type { RequestSummary } from 'kubecred/proxy'
import type { Snapshot } from './snapshot.ts'
import { Timeline } from './timeline.ts'
import { TrackedIdentity } from './tracked-identity.ts'
import { TrafficMeter } from './traffic-meter.ts'

/** What changed: something about a credential, or only the traffic. */
export type Change = 'credential' | 'traffic'

/** Handle to an identity on the page, for the code that connects. */
export interface IdentityHandle {
  /** The observer to pass to `connect()`. */
  readonly observer: Observer
  /** Sets the connection. The identity is shown from then on. */
  attach(cluster: Cluster): void
  /** Removes the identity from the page. Its events stay on the timeline. */
  remove(): void
}

/**
 * The state that the page shows, collected from events and requests.
 *
 * Needs a bounded amount of memory per identity, and none per request. Contains no secrets.
 */
export class LiveState {
  readonly #title: string
  readonly #now: () => number
  readonly #startedAt: number
  readonly #identities = new Map<string, TrackedIdentity>()
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

  /**
   * Adds an identity. Pass its `observer` to `connect()`, then the cluster to `attach`.
   *
   * @throws {TypeError} If there is already an identity with this id.
   */
  identity(id: string, title: string): IdentityHandle {
    if (this.#identities.has(id)) throw new TypeError(`the page already has an identity "${id}"`)
    const tracked: TrackedIdentity = new TrackedIdentity(id, title, {
      now: this.#now,
      onChange: (details) => {
        if (details !== undefined) this.#timeline.add(this.#now(), tracked, details)
        this.#notify('credential')
      },
    })
    this.#identities.set(id, tracked)
    return {
      observer: tracked.observer,
      attach: tracked.attach,
      remove: () => {
        // The id may have been reused since.
        if (this.#identities.get(id) === tracked) this.#identities.delete(id)
        this.#notify('credential')
      },
    }
  }

  /** Returns an identity, or undefined if there is none with this id. */
  find(id: string): TrackedIdentity | undefined {
    return this.#identities.get(id)
  }

  /** Counts a request; use it as `onRequest` of a proxy. */
  readonly recordRequest = (note: RequestSummary): void => {
    this.#traffic.note(note)
    this.#notify('traffic')
  }

  /** Registers a function that returns the number of requests in flight. Several are summed. */
  addOpenCounter(read: () => number): void {
    this.#openReaders.push(read)
  }

  /** Calls a listener on every change; it must be fast. Returns a function that removes it. */
  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns the current state.
   *
   * @param after The number of the last timeline event that the reader has.
   */
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

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }
}
