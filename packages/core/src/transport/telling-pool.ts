import { type Dispatcher, Pool } from 'undici'

/** Options of a request that wants to know when its response has arrived. */
export interface TellingOptions extends Dispatcher.RequestOptions {
  readonly passage: { done(): void }
}

/**
 * A pool that tells when all of a response has arrived.
 *
 * undici's own promise tells when it begins, and its body when it was read; in between, the connection
 * becomes free, and that is what the limits count.
 */
export class TellingPool extends Pool {
  override dispatch(
    options: Dispatcher.DispatchOptions & Partial<TellingOptions>,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { passage } = options
    const { onComplete } = handler
    if (passage !== undefined && onComplete !== undefined) {
      handler.onComplete = (trailers) => {
        passage.done()
        onComplete.call(handler, trailers)
      }
    }
    return super.dispatch(options, handler)
  }
}
