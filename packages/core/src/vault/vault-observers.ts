import type { Keeper } from '../keeper/keeper.ts'
import type { Observer } from '../ports/observer.ts'

/** What can be observed: a keeper. */
export type Observable = Pick<Keeper, 'watch'>

/**
 * The observers of a vault, and the keepers they observe: those of its handlers, and those that its logins share with
 * other connections.
 *
 * Both can be added and removed at any time. Every keeper reports under its own label, and to each observer once.
 */
export class VaultObservers {
  readonly #observers = new Set<Link<Observer>>()
  readonly #keepers = new Set<Link<Observable>>()

  /** Adds an observer. Returns a function that removes it. */
  watch(observer: Observer): () => void {
    const link: Link<Observer> = { end: observer, stops: new Map() }
    for (const keeper of this.#keepers) connect(link, keeper)
    this.#observers.add(link)
    return () => {
      this.#observers.delete(link)
      disconnect(link)
    }
  }

  /** Adds a keeper. Returns a function that removes it. */
  add(keeper: Observable): () => void {
    const link: Link<Observable> = { end: keeper, stops: new Map() }
    for (const observer of this.#observers) connect(observer, link)
    this.#keepers.add(link)
    return () => {
      this.#keepers.delete(link)
      disconnect(link)
    }
  }
}

/** An observer or a keeper, with the functions that end its links to the other side. */
interface Link<T> {
  readonly end: T
  readonly stops: Map<Link<unknown>, () => void>
}

function connect(observer: Link<Observer>, keeper: Link<Observable>): void {
  const stop = keeper.end.watch(observer.end)
  observer.stops.set(keeper, stop)
  keeper.stops.set(observer, stop)
}

function disconnect(link: Link<unknown>): void {
  for (const [other, stop] of link.stops) {
    other.stops.delete(link)
    stop()
  }
  link.stops.clear()
}
