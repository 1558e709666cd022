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
    if (isTelling(options)) {
      tellArrival(handler, options)
      endWithLine(handler, options)
    }
    return super.dispatch(options, handler)
  }
}

function isTelling(options: Partial<TellingOptions>): options is TellingOptions {
  return options.passage !== undefined
}

function tellArrival(handler: Handler, { passage }: TellingOptions): void {
  const { onComplete } = handler
  handler.onComplete = (trailers) => {
    passage.done()
    onComplete?.call(handler, trailers)
  }
}

/** A request may wait for its connection or its answer while the cluster is closed; undici would go on with it. */
function endWithLine(handler: Handler, { checkOpen, wire }: TellingOptions): void {
  const { onConnect, onHeaders, onError } = handler
  let abort: ((reason: Error) => void) | undefined
  const leave = (): void => void (abort && wire.delete(abort))
  handler.onConnect = (given) => {
    abort = given
    onConnect?.call(handler, given)
    try {
      checkOpen()
      wire.add(given)
    } catch (error) {
      given(error as Error)
    }
  }
  handler.onHeaders = (status, headers, resume, statusText) => {
    if (status >= 200) leave()
    return onHeaders?.call(handler, status, headers, resume, statusText) ?? true
  }
  handler.onError = (error) => {
    leave()
    onError?.call(handler, error)
  }
}
