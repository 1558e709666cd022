import { TooManyStreamsError } from '../errors/index.ts'
import type { ConnectionLimits } from '../exchange/exchange.ts'
import type { Closable } from '../keeper/resource-cache.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'

/** A response that is still open after this long is a stream, whatever its URL says. */
const BECOMES_STREAM_MS = 5000

/** The place of one request at a gate. */
export interface GateEntry {
  readonly enteredAt: number
}

/**
 * Lets a limited number of short requests through at once, and streams beside them.
 *
 * Without the second count, eight watches on eight connections would block the ninth request for ever.
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

  /** Grows when long responses turned out to hold connections of short requests: then a new pool has to take over. */
  get round(): number {
    return this.#round
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  destroy(): void {
    clearTimeout(this.#timer)
  }

  /** @throws {TooManyStreamsError} */
  openStream(): GateEntry {
    const { size } = this.#streams
    if (size >= this.#limits.streams) {
      throw new TooManyStreamsError(`${size} watches and other streams are open already`)
    }
    const entry = { enteredAt: this.#now() }
    this.#streams.add(entry)
    return entry
  }

  /** A place for a short request: at once if there is one, else when it is its turn. */
  enter(signal?: AbortSignal): GateEntry | Promise<GateEntry> {
    if (this.#queue.size === 0 && this.#hasRoom()) return this.#admit()
    const turn = this.#queue.wait(signal)
    this.#lookAgain()
    return turn
  }

  /** Takes a place back: the response has arrived, or will not. May be called more than once. */
  leave(entry: GateEntry): void {
    if (!this.#short.delete(entry)) this.#streams.delete(entry)
    if (this.#queue.size > 0) this.#letIn()
  }

  #hasRoom(): boolean {
    if (this.#short.size < this.#limits.requests) return true
    this.#moveOld()
    return this.#short.size < this.#limits.requests
  }

  #admit(): GateEntry {
    const entry = { enteredAt: this.#now() }
    this.#short.add(entry)
    return entry
  }

  /** Counts old short requests as streams, oldest first, while there is room for streams. */
  #moveOld(): void {
    const now = this.#now()
    for (const entry of this.#short) {
      const isYoung = now - entry.enteredAt < BECOMES_STREAM_MS
      if (isYoung || this.#streams.size >= this.#limits.streams) return
      this.#short.delete(entry)
      this.#streams.add(entry)
      this.#round += 1
    }
  }

  #letIn(): void {
    while (this.#queue.size > 0 && this.#hasRoom()) this.#queue.next(this.#admit())
    if (this.#queue.size > 0) this.#lookAgain()
  }

  /** No request may end for a long time: look again when the oldest becomes a stream. */
  #lookAgain(): void {
    const [oldest] = this.#short
    if (oldest === undefined || this.#timer !== undefined) return
    const wait = Math.max(oldest.enteredAt + BECOMES_STREAM_MS - this.#now(), 10)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#letIn()
    }, wait)
  }
}
