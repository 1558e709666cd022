import type { IncomingMessage } from 'node:http'
import { splitPath } from '../request/request-target.ts'

type Listener = (note: RequestSummary) => void

/** Longer paths are cut in the summary of a request. */
const MAX_PATH_LENGTH = 1_000

/** Where to report requests. */
export interface RecordOptions {
  readonly listener: Listener | undefined
  /** Called with any error of the listener. */
  readonly onThrown: (error: unknown) => void
}

/** Measures one request, and reports it once when its response begins. */
export class RequestRecord {
  readonly #listener: Listener | undefined
  readonly #request: IncomingMessage
  readonly #isUpgrade: boolean
  readonly #onThrown: (error: unknown) => void
  readonly #receivedAt: number
  readonly #startedAt: number
  #isReported = false

  constructor(
    { listener, onThrown }: RecordOptions,
    request: IncomingMessage,
    { isUpgrade }: { readonly isUpgrade: boolean },
  ) {
    this.#listener = listener
    this.#onThrown = onThrown
    this.#request = request
    this.#isUpgrade = isUpgrade
    this.#receivedAt = listener === undefined ? 0 : Date.now()
    this.#startedAt = listener === undefined ? 0 : performance.now()
  }

  /** The server responded. */
  responded(status: number): void {
    this.#report(status)
  }

  /** The proxy responded itself. */
  rejected(status: number, why: string): void {
    this.#report(status, why)
  }

  /** The client disconnected before the response. */
  aborted(): void {
    this.#report(0)
  }

  #report(status: number, rejectedFor?: string): void {
    if (this.#listener === undefined || this.#isReported) return
    this.#isReported = true
    const { method = '', url = '' } = this.#request
    try {
      this.#listener({
        at: this.#receivedAt,
        method,
        path: splitPath(url).pathname.slice(0, MAX_PATH_LENGTH),
        status,
        tookMs: performance.now() - this.#startedAt,
        isUpgrade: this.#isUpgrade,
        ...(rejectedFor !== undefined && { rejectedFor }),
      })
    } catch (error) {
      // An error of the listener must not fail the request.
      this.#onThrown(error)
    }
  }
}

/** The outcome of one request to the proxy. Contains no header, body or query, because those may be secret. */
export interface RequestSummary {
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The path without its query. */
  readonly path: string
  /** The status of the response; 0 if the client disconnected before. */
  readonly status: number
  /** Time until the response headers; for an upgrade, until the protocol was switched. */
  readonly tookMs: number
  readonly isUpgrade: boolean
  /** Why the proxy itself responded; undefined if the server did. */
  readonly rejectedFor?: string
}
