import { NotSupportedError } from '../../errors/index.ts'
import type { Handler, LegacyHandler } from '../undici/handlers.ts'
import { aimOf } from '../undici/request-parts.ts'
import type { DispatchOptions } from '../undici/undici-module.ts'
import { dispatchedRequest } from './dispatched-request.ts'
import { DispatchedResponse } from './dispatched-response.ts'
import type { Passages } from './passage-agent.ts'

/**
 * As much of undici's `Dispatcher` as its fetch uses.
 *
 * Any version of undici takes it, because none is behind it: requests go over the line.
 */
export interface FetchDispatcher {
  dispatch(options: DispatchOptions, handler: Handler | LegacyHandler): boolean
}

/** A dispatcher that sends over a line. Whatever goes wrong is told to the handler. */
export function lineDispatcher(passages: Passages): FetchDispatcher {
  return {
    dispatch(options, handler) {
      void carry(passages, options, new DispatchedResponse(handler))
      return true
    },
  }
}

async function carry(
  passages: Passages,
  options: DispatchOptions,
  response: DispatchedResponse,
): Promise<void> {
  const release = passages.hold()
  try {
    const line = await passages.line()
    const { place, wish } = aimOf(options, line)
    if (options.upgrade) throw new NotSupportedError('client-node opens WebSockets in another way')
    const outgoing = await dispatchedRequest(options, line.adapterHeaders, response.signal)
    await response.pass(await line.send(place, outgoing, wish && { wish }))
  } catch (error) {
    response.fail(error as Error)
  } finally {
    release()
  }
}
