import type { IncomingMessage } from 'node:http'
import { splitPath } from '../request/request-target.ts'

/** Whoever wants to know about requests. */
type Listener = (note: RequestSummary) => void

/** As much of a path as is told about a request; the rest is no help. */
const MOST_PATH = 1_000

export interface RecordOptions {
  readonly listener: Listener | undefined
  /** Called with what the listener throws. */
  readonly onThrown: (error: unknown) => void
}

/** One request from its coming to its answer, for the note about it. */
export class RequestRecord {
  readonly #listener: Listener | undefined
  readonly #request: IncomingMessage
  readonly #isUpgrade: boolean
  readonly #onThrown: (error: unknown) => void
  readonly #at: number
  readonly #began: number
  #isTold = false

  constructor(
    { listener, onThrown }: RecordOptions,
    request: IncomingMessage,
    { isUpgrade }: { readonly isUpgrade: boolean },
  ) {
    this.#listener = listener
    this.#onThrown = onThrown
    this.#request = request
    this.#isUpgrade = isUpgrade
    this.#at = listener === undefined ? 0 : Date.now()
    this.#began = listener === undefined ? 0 : performance.now()
  }

  /** The server has answered. */
  answered(status: number): void {
    this.#tell(status)
  }

  /** We have, and this is why. */
  refused(status: number, why: string): void {
    this.#tell(status, why)
  }

  /** The client did not wait for an answer. */
  left(): void {
    this.#tell(0)
  }

  #tell(status: number, rejectedFor?: string): void {
    if (this.#listener === undefined || this.#isTold) return
    this.#isTold = true
    const { method = '', url = '' } = this.#request
    try {
      this.#listener({
        at: this.#at,
        method,
        path: splitPath(url).pathname.slice(0, MOST_PATH),
        status,
        tookMs: performance.now() - this.#began,
        isUpgrade: this.#isUpgrade,
        ...(rejectedFor !== undefined && { rejectedFor }),
      })
    } catch (error) {
      // A listener must not break the request.
      this.#onThrown(error)
    }
  }
}

/** What became of one request that came to the proxy. No header, no body, no query: those may be secret. */
export interface RequestSummary {
  /** When it came, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** What the client was answered; 0 when it left before. */
  readonly status: number
  /** Until the head of the answer; for an upgrade, until the protocol changed. */
  readonly tookMs: number
  readonly isUpgrade: boolean
  /** Who answered: the server, or the proxy, which then says why. */
  readonly rejectedFor?: string
}
