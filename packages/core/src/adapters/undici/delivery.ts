import type { Duplex } from 'node:stream'
import { UpgradeRefusedError } from '../../errors/index.ts'
import type { Attempt } from './attempt.ts'
import type { Handler, Headers } from './handlers.ts'
import type { AnswerHead } from './held-answer.ts'
import { SteeredController } from './steered-controller.ts'

export interface DeliveryParts {
  readonly caller: Handler
  readonly isUpgrade: boolean
  readonly onAbort: (reason: Error | undefined) => void
  /** Called once, before the caller is told of the end. */
  readonly onDone: () => void
}

/** What the caller gets to see of a request: one beginning, one answer, one end. */
export class Delivery {
  /** The caller's: the same from dispatch to end, however many tries that takes. */
  readonly controller: SteeredController
  readonly #parts: DeliveryParts
  /** The try whose answer is delivered. */
  #from: Attempt | undefined
  #isDone = false

  constructor(parts: DeliveryParts) {
    this.#parts = parts
    this.controller = new SteeredController({
      onAbort: parts.onAbort,
      onPause: () => this.#from?.controller?.pause(),
      onResume: () => this.#resume(),
    })
  }

  /** Whether the caller has been given the beginning of an answer. */
  get hasBegun(): boolean {
    return this.#from !== undefined
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Hands on the beginning of an answer that may be followed by another: a 1xx. */
  inform({ status, headers, rawHeaders, statusText }: AnswerHead): void {
    this.controller.rawHeaders = rawHeaders ?? null
    try {
      this.#parts.caller.onResponseStart?.(this.controller, status, headers, statusText)
    } catch (cause) {
      if (!this.#parts.isUpgrade) throw cause
      // undici's own upgrade() says only "bad upgrade".
      throw new UpgradeRefusedError(status, statusText || 'no reason', { cause })
    }
  }

  begin(attempt: Attempt, head: AnswerHead): void {
    this.#from = attempt
    this.inform(head)
    // The caller may have paused before there was anything to pause.
    if (this.controller.paused) attempt.controller?.pause()
  }

  /** Hands on an answer that was held: there is no better one. */
  release(attempt: Attempt): void {
    this.#from = attempt
    const { held } = attempt
    if (held?.head !== undefined) this.inform(held.head)
    this.#resume()
  }

  data(chunk: Buffer): void {
    this.#parts.caller.onResponseData?.(this.controller, chunk)
  }

  end(trailers: Headers): void {
    this.#finish()
    this.controller.rawTrailers = this.#from?.controller?.rawTrailers ?? null
    try {
      this.#parts.caller.onResponseEnd?.(this.controller, trailers)
    } catch (error) {
      this.#parts.caller.onResponseError?.(this.controller, error as Error)
    }
  }

  upgrade(attempt: Attempt, status: number, headers: Headers, socket: Duplex): void {
    this.#finish()
    this.controller.rawHeaders = attempt.controller?.rawHeaders ?? null
    this.#parts.caller.onRequestUpgrade?.(this.controller, status, headers, socket)
  }

  /** Tells of a failure, if the end is still to come. */
  fail(error: Error): void {
    if (this.#isDone) return
    this.#finish()
    this.#parts.caller.onResponseError?.(this.controller, error)
  }

  /** What is held for the caller has ended: if all before it was handed on, this can be too. */
  endHeld(): void {
    if (!this.controller.paused) this.#resume()
  }

  /** Goes on with the answer: first what is held, then what comes. */
  #resume(): void {
    const from = this.#from
    if (from === undefined || this.#isDone) return
    const { held } = from
    try {
      if (held?.flush((chunk) => this.data(chunk), this.controller) === false) return
    } catch (error) {
      this.controller.abort(error as Error)
      return
    }
    // The caller may have paused and resumed meanwhile: then all of this was done in between.
    if (from.held !== held) return
    from.held = undefined
    const ending = held?.ending
    if (ending === undefined) from.controller?.resume()
    else if ('error' in ending) this.fail(ending.error)
    else this.end(ending.trailers)
  }

  #finish(): void {
    this.#isDone = true
    this.#parts.onDone()
  }
}
