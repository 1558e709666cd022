import type { Readable } from 'node:stream'
import { TooManyStreamsError } from '../errors/index.ts'
import type { Closable } from '../vault/derived.ts'
import type { ConnectionLimits } from './exchange.ts'

/** A response that is still open after this long is a stream, whatever its URL says. */
const BECOMES_STREAM_MS = 5000

/** One request on its way. */
export interface Passage {
  /** Call it when the response has arrived, or will not. May be called more than once. */
  done(): void
  /** Keeps a body in a set of open ones until it is done. */
  follow(body: Readable, open: Set<Readable>): void
}

/** A passage and what the gate remembers of it. A class, because there is one for every request. */
class Open implements Passage {
  readonly openedAt: number
  isStream: boolean
  readonly #leave: (open: Open) => void
  #isDone = false
  #body: Readable | undefined
  #open: Set<Readable> | undefined

  constructor(openedAt: number, isStream: boolean, leave: (open: Open) => void) {
    this.openedAt = openedAt
    this.isStream = isStream
    this.#leave = leave
  }

  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    if (this.#body !== undefined) this.#open?.delete(this.#body)
    this.#leave(this)
  }

  follow(body: Readable, open: Set<Readable>): void {
    if (this.#isDone) return
    this.#body = body
    this.#open = open
    open.add(body)
    body.on('close', () => this.done())
  }
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
  readonly #short = new Set<Open>()
  readonly #queue: { proceed: () => void }[] = []
  #streams = 0
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
  openStream(): Passage {
    if (this.#streams >= this.#limits.streams) {
      throw new TooManyStreamsError(`${this.#streams} watches and other streams are open already`)
    }
    this.#streams += 1
    return new Open(this.#now(), true, this.#leave)
  }

  /** A place for a short request: at once if there is one, else when it is its turn. */
  enter(signal?: AbortSignal): Passage | Promise<Passage> {
    if (this.#queue.length === 0 && this.#hasRoom()) return this.#admit()
    return this.#queueUp(signal)
  }

  #hasRoom(): boolean {
    if (this.#short.size < this.#limits.requests) return true
    this.#moveOld()
    return this.#short.size < this.#limits.requests
  }

  #admit(): Passage {
    const open = new Open(this.#now(), false, this.#leave)
    this.#short.add(open)
    return open
  }

  readonly #leave = (open: Open): void => {
    if (open.isStream) this.#streams -= 1
    else this.#short.delete(open)
    if (this.#queue.length > 0) this.#letIn()
  }

  /** Counts old short requests as streams, oldest first, while there is room for streams. */
  #moveOld(): void {
    const now = this.#now()
    for (const open of this.#short) {
      const isYoung = now - open.openedAt < BECOMES_STREAM_MS
      if (isYoung || this.#streams >= this.#limits.streams) return
      this.#short.delete(open)
      open.isStream = true
      this.#streams += 1
      this.#round += 1
    }
  }

  #letIn(): void {
    while (this.#queue.length > 0 && this.#hasRoom()) this.#queue.shift()?.proceed()
    if (this.#queue.length > 0) this.#lookAgain()
  }

  /** Nothing may end for a long time: look again when the oldest becomes a stream. */
  #lookAgain(): void {
    const [oldest] = this.#short
    if (oldest === undefined || this.#timer !== undefined) return
    const wait = Math.max(oldest.openedAt + BECOMES_STREAM_MS - this.#now(), 10)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#letIn()
    }, wait)
  }

  #queueUp(signal?: AbortSignal): Promise<Passage> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const entry = {
        proceed: () => {
          signal?.removeEventListener('abort', leave)
          resolve(this.#admit())
        },
      }
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(entry), 1)
        reject(signal?.reason)
      }
      this.#queue.push(entry)
      signal?.addEventListener('abort', leave, { once: true })
      this.#lookAgain()
    })
  }
}
