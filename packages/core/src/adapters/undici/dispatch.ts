import type { Readable } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import type { ConnectionOwner, Exchange, Sendable } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import { Call } from '../../request/call.ts'
import type { Line } from '../../request/line.ts'
import type { Outgoing } from '../../request/outgoing.ts'
import { HandlerCaller } from './handler-caller.ts'
import { asHandler, type LegacyHandler } from './handlers.ts'
import { bodyOf, checkOptions, headersOf, targetOf } from './request-parts.ts'
import type { DispatchOptions } from './undici-module.ts'

/** Where dispatched requests go: connections of the user's undici. */
export interface UserConnections {
  readonly line: Line
  /** Whether the user made the connections, and not we. */
  readonly isForeign: boolean
  /** @throws When no request may be sent. */
  check(options: DispatchOptions): void
  /** The connections of an identity to a server. @throws When this identity cannot use them. */
  open(target: Target, owner: ConnectionOwner): UserPools
  /** What an abort without a reason fails with. */
  aborted(): Error
  /** What the handler gets in place of an error of the connection. */
  explain(error: unknown, origin: string): unknown
  /** Called with each request when it begins. Returns what is called when it is over. */
  begin(request: HandlerCaller): () => void
}

/** Connections of the user's undici under one identity to one server. */
export interface UserPools {
  readonly alerts?: NonNullable<ReturnType<Exchange['open']>['alerts']>
  dispatch(call: Sendable, options: DispatchOptions, handler: Handler): void
}

/** Does what `dispatch` of undici does: begins a request, and its handler receives what becomes of it. */
export function dispatch(
  options: DispatchOptions,
  given: Handler | LegacyHandler,
  connections: UserConnections,
): boolean {
  if (typeof given !== 'object' || given === null) throw new TypeError('handler must be an object')
  const { line } = connections
  const handler = asHandler(given)
  try {
    connections.check(options)
    checkOptions(options)
    const target = targetOf(options, line)
    // For a vault alone, where to wait for a credential is to stand in a queue.
    const gone = line.isOpenEnded ? new AbortController() : undefined
    const { open, canReplay } = bodyOf(options)
    const outgoing: Outgoing = {
      method: options.method,
      headers: headersOf(options, line.adapterHeaders),
      signal: gone?.signal,
      // undici takes more kinds of bodies than our own exchanges, and gets them as they are.
      body: open as () => Uint8Array | Readable | undefined,
      canReplay,
    }
    const caller: HandlerCaller = new HandlerCaller(handler, {
      isUpgrade: Boolean(options.upgrade),
      aborted: () => connections.aborted(),
      explain: (error, { origin }) => connections.explain(error, origin),
      onAbort: (reason) => gone?.abort(reason),
      onDone: () => onDone(),
    })
    const onDone = connections.begin(caller)
    caller.begin()
    caller.send(
      new Call(line, exchangeFor(options, handler, connections), target, outgoing, caller),
    )
    return true
  } catch (error) {
    if (handler.onResponseError === undefined) throw error
    handler.onResponseError(null, error as Error)
    return false
  }
}

/** The user's connections as an exchange, for one request with its own options. */
function exchangeFor(
  options: DispatchOptions,
  handler: Handler,
  connections: UserConnections,
): Exchange {
  return {
    limitsRequests: true,
    isForeign: connections.isForeign,
    open(target, owner) {
      const pools = connections.open(target, owner)
      return {
        isClosed: false,
        alerts: pools.alerts,
        send(call) {
          const { path, requestHeaders: headers, requestBody: body } = call
          pools.dispatch(call, { ...options, origin: target.origin, path, headers, body }, handler)
        },
        close() {},
        destroy() {},
      }
    },
  }
}
