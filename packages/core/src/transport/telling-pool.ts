import { type Dispatcher, Pool } from 'undici'

/** Options of a request that wants to know when its response has arrived. */
export interface TellingOptions extends Dispatcher.RequestOptions {
  readonly passage: { done(): void }
  /** Throws when nothing may be sent any more. */
  readonly checkOpen: () => void
}

/**
 * A pool that tells when all of a response has arrived, and sends nothing after the end.
 *
 * undici's own promise tells when it begins, and its body when it was read; in between, the connection
 * becomes free, and that is what the limits count.
 */
export class TellingPool extends Pool {
  override dispatch(
    options: Dispatcher.DispatchOptions & Partial<TellingOptions>,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { passage, checkOpen } = options
    const { onConnect, onComplete } = handler
    if (checkOpen !== undefined && onConnect !== undefined) {
      handler.onConnect = (abort) => {
        onConnect.call(handler, abort)
        refuseIfClosed(checkOpen, abort)
      }
    }
    if (passage !== undefined && onComplete !== undefined) {
      handler.onComplete = (trailers) => {
        passage.done()
        onComplete.call(handler, trailers)
      }
    }
    return super.dispatch(options, handler)
  }
}

/** A request may wait for its connection while the cluster is closed; undici would send it all the same. */
function refuseIfClosed(checkOpen: () => void, abort: (error?: Error) => void): void {
  try {
    checkOpen()
  } catch (error) {
    abort(error as Error)
  }
}
