import { type Dispatcher, Pool } from 'undici'
import type { Try } from './exchange.ts'

/** Options of a request that wants to know when its response has arrived, and ends with its line. */
export interface TellingOptions
  extends Dispatcher.RequestOptions,
    Pick<Try, 'passage' | 'checkOpen' | 'wire'> {}

type Handler = Dispatcher.DispatchHandler

/**
 * A pool that tells when all of a response has arrived, and sends nothing after the end of the line.
 *
 * undici's own promise tells when it begins, and its body when it was read; in between, the connection
 * becomes free, and that is what the limits count.
 */
export class TellingPool extends Pool {
  override dispatch(
    options: Dispatcher.DispatchOptions & Partial<TellingOptions>,
    handler: Handler,
  ): boolean {
    return super.dispatch(
      options,
      isTelling(options) ? new TellingHandler(handler, options) : handler,
    )
  }
}

function isTelling(options: Partial<TellingOptions>): options is TellingOptions {
  return options.passage !== undefined
}

/** One object for a request, because there are many: it hands everything on to undici's own handler. */
class TellingHandler implements Handler {
  readonly #handler: Handler
  readonly #options: TellingOptions
  #abort: ((reason: Error) => void) | undefined

  constructor(handler: Handler, options: TellingOptions) {
    this.#handler = handler
    this.#options = options
  }

  /** A request may wait for its connection or its answer while the cluster is closed; undici would go on with it. */
  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    this.#handler.onConnect?.(abort)
    const { checkOpen, wire } = this.#options
    try {
      checkOpen()
      wire.add(abort)
    } catch (error) {
      abort(error as Error)
    }
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean {
    if (status >= 200) this.#leaveWire()
    return this.#handler.onHeaders?.(status, headers, resume, statusText) ?? true
  }

  onData(chunk: Buffer): boolean {
    return this.#handler.onData?.(chunk) ?? true
  }

  onComplete(trailers: string[] | null): void {
    this.#options.passage.done()
    this.#handler.onComplete?.(trailers)
  }

  onError(error: Error): void {
    this.#leaveWire()
    this.#handler.onError?.(error)
  }

  #leaveWire(): void {
    if (this.#abort !== undefined) this.#options.wire.delete(this.#abort)
  }
}
