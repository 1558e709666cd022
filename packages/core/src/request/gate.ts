import { TooManyStreamsError } from '../errors/index.ts'
import type { ConnectionLimits } from '../exchange/exchange.ts'
import type { Closable } from '../keeper/resource-cache.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'

/** How long a response may stay open before it counts as a stream, whatever its URL says. */
const MAX_SHORT_REQUEST_MS = 5000

/** The place of one request at a gate. */
export interface GateEntry {
  readonly enteredAt: number
}

/**
 * Limits how many short requests and how many streams are open at once.
 *
 * The two are counted apart: otherwise eight watches on eight connections would block the ninth request forever.
 */
export class Gate implements Closable {
  readonly #limits: ConnectionLimits
  readonly #now: () => number
  /** Short requests in the order they began. */
  readonly #short = new Set<GateEntry>()
  readonly #streams = new Set<GateEntry>()
  readonly #queue = new AbortableQueue<GateEntry>()
  #round = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: ConnectionLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
  }

  /** Increases when long responses turn out to hold connections of short requests, so that a new pool must take over. */
  get round(): number {
    return this.#round
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  destroy(): void {
    clearTimeout(this.#timer)
  }

  /**
   * Takes a place for a stream.
   *
   * @throws {TooManyStreamsError} `ERR_TOO_MANY_STREAMS`
   */
  openStream(): GateEntry {
    const { size } = this.#streams
    if (size >= this.#limits.streams) {
      throw new TooManyStreamsError(
        `the stream limit is reached: ${size} watches and other streams are open`,
      )
    }
    const entry = { enteredAt: this.#now() }
    this.#streams.add(entry)
    return entry
  }

  /** Takes a place for a short request: at once if there is one, otherwise when its turn comes. */
  enter(signal?: AbortSignal): GateEntry | Promise<GateEntry> {
    if (this.#queue.size === 0 && this.#hasRoom()) return this.#admit()
    const turn = this.#queue.wait(signal)
    this.#checkLater()
    return turn
  }

  /** Gives a place back: the response has arrived, or will not arrive. May be called more than once. */
  leave(entry: GateEntry): void {
    if (!this.#short.delete(entry)) this.#streams.delete(entry)
    if (this.#queue.size > 0) this.#admitWaiting()
  }

  #hasRoom(): boolean {
    if (this.#short.size < this.#limits.requests) return true
    this.#reclassifyOld()
    return this.#short.size < this.#limits.requests
  }

  #admit(): GateEntry {
    const entry = { enteredAt: this.#now() }
    this.#short.add(entry)
    return entry
  }

  /** Counts old short requests as streams, oldest first, while there is room for streams. */
  #reclassifyOld(): void {
    const now = this.#now()
    for (const entry of this.#short) {
      const isYoung = now - entry.enteredAt < MAX_SHORT_REQUEST_MS
      if (isYoung || this.#streams.size >= this.#limits.streams) return
      this.#short.delete(entry)
      this.#streams.add(entry)
      this.#round += 1
    }
  }

  #admitWaiting(): void {
    while (this.#queue.size > 0 && this.#hasRoom()) this.#queue.next(this.#admit())
    if (this.#queue.size > 0) this.#checkLater()
  }

  /** Checks again when the oldest request becomes a stream, because it may be long before any request ends. */
  #checkLater(): void {
    const [oldest] = this.#short
    if (oldest === undefined || this.#timer !== undefined) return
    const wait = Math.max(oldest.enteredAt + MAX_SHORT_REQUEST_MS - this.#now(), 10)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#admitWaiting()
    }, wait)
  }
}
