import type { Line } from '../../transport/line.ts'
import { asHandler, type Handler, type LegacyHandler } from './handlers.ts'
import type { Ongoing } from './ongoing.ts'
import { aimOf, bodyOf, checkOptions, headersOf } from './request-parts.ts'
import { Sending } from './sending.ts'
import type { Way } from './sending-parts.ts'
import type { DispatchOptions } from './undici-module.ts'

export interface SendParts {
  readonly line: Line
  readonly way: Way
  readonly ongoing: Ongoing
  /** Throws when no request may be sent. */
  readonly check: (options: DispatchOptions) => void
}

/** What `dispatch` of undici does: begins a request, and tells the handler what becomes of it. */
export function send(
  options: DispatchOptions,
  handler: Handler | LegacyHandler,
  { line, way, ongoing, check }: SendParts,
): boolean {
  if (typeof handler !== 'object' || handler === null) {
    throw new TypeError('handler must be an object')
  }
  const caller = asHandler(handler)
  try {
    check(options)
    checkOptions(options)
    const aim = aimOf(options, line)
    const headers = headersOf(options, line.adapterHeaders)
    const body = bodyOf(options)
    new Sending({ line, way, ongoing, aim, options, headers, body, caller }).start()
    return true
  } catch (error) {
    if (caller.onResponseError === undefined) throw error
    caller.onResponseError(null, error as Error)
    return false
  }
}
