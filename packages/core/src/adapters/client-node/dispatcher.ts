import { NotSupportedError } from '../../errors/index.ts'
import type { Handler } from '../../exchange/handler.ts'
import { HandlerCaller } from '../undici/handler-caller.ts'
import { asHandler, type LegacyHandler } from '../undici/handlers.ts'
import { targetOf } from '../undici/request-parts.ts'
import type { DispatchOptions } from '../undici/undici-module.ts'
import { dispatchedRequest } from './dispatched-request.ts'
import type { Passages } from './passage-agent.ts'

/**
 * As much of undici's `Dispatcher` as its fetch uses.
 *
 * Any version of undici takes it, because none is behind it: requests go over the line.
 */
export interface FetchDispatcher {
  dispatch(options: DispatchOptions, handler: Handler | LegacyHandler): boolean
}

/** A dispatcher that sends over a line. The handler receives whatever goes wrong. */
export function lineDispatcher(passages: Passages): FetchDispatcher {
  return {
    dispatch(options, handler) {
      void send(passages, options, asHandler(handler))
      return true
    },
  }
}

async function send(passages: Passages, options: DispatchOptions, handler: Handler): Promise<void> {
  const release = passages.hold()
  const gone = new AbortController()
  const onAbort = (reason: Error): void => gone.abort(reason)
  const caller = new HandlerCaller(handler, { onAbort, onDone: release })
  caller.begin()
  try {
    const line = await passages.line()
    const target = targetOf(options, line)
    if (options.upgrade) throw new NotSupportedError('client-node opens WebSockets in another way')
    const outgoing = await dispatchedRequest(options, line.adapterHeaders, gone.signal)
    line.call(target, outgoing, caller)
  } catch (error) {
    caller.failed(error)
  }
}
