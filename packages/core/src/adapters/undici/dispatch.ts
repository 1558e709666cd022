import { Readable } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import { ForeignOriginError, NotSupportedError } from '../../errors/index.ts'
import type { ConnectionOwner, Exchange, HeaderValues, Sendable } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import { Call } from '../../request/call.ts'
import { mergeHeaders } from '../../request/headers.ts'
import type { Line } from '../../request/line.ts'
import { type OutgoingRequest, RecordedBody } from '../../request/outgoing-request.ts'
import type { RequestTarget } from '../../request/request-target.ts'
import type { DispatchOptions } from './dispatcher-options.ts'
import { asHandler, HandlerCaller, type LegacyHandler } from './handlers.ts'

/** The connections of the user's undici, on which dispatched requests are sent. */
export interface UserConnections {
  readonly line: Line
  /** Whether the user made the connections, and not this library. */
  readonly isUserOwned: boolean
  /** @throws If the request must not be sent. */
  check(options: DispatchOptions): void
  /** Returns the connections of an identity to a server. @throws If this identity cannot use them. */
  open(target: Target, owner: ConnectionOwner): UserPools
  /** Makes the error of an abort without a reason. */
  aborted(): Error
  /** Converts a connection error for the handler. */
  explain(error: unknown, origin: string): unknown
  /** Called when a request starts. Returns a function that is called when it has ended. */
  begin(request: HandlerCaller): () => void
}

/** Connections of the user's undici with one identity to one server. */
export interface UserPools {
  readonly alerts?: NonNullable<ReturnType<Exchange['open']>['alerts']>
  dispatch(call: Sendable, options: DispatchOptions, handler: Handler): void
}

/** Does what undici's `dispatch` does: starts a request, and reports its events to the handler. */
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
    // Only with a vault, because there requests wait for a credential in a queue, which an abort must leave.
    const gone = line.hasServerPerLogin ? new AbortController() : undefined
    const { open, canReplay } = bodyOf(options)
    const outgoing: OutgoingRequest = {
      method: options.method,
      headers: headersOf(options, line.adapterHeaders),
      signal: gone?.signal,
      // undici accepts more kinds of bodies than our own exchanges, so they are passed on as they are.
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

/** Makes an exchange from the user's connections, for one request with its own options. */
function exchangeFor(
  options: DispatchOptions,
  handler: Handler,
  connections: UserConnections,
): Exchange {
  return {
    limitsRequests: true,
    isUserOwned: connections.isUserOwned,
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

/**
 * Finds where a dispatched request goes.
 *
 * With an origin, the path is the whole path, as in a URL. Without one, it is appended to the server's own path, as in
 * `cluster.fetch`.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`; nothing was sent.
 */
export function targetOf({ origin, path }: DispatchOptions, line: Line): RequestTarget {
  if (typeof path !== 'string') throw new TypeError('path must be a string')
  if (origin === undefined || origin === null || origin === '') return line.find(path)
  const base = new URL(String(origin))
  line.find(base)
  const target = line.find(path.startsWith('/') ? base.origin + path : path)
  if (target.origin === undefined || target.origin === base.origin) return target
  throw new ForeignOriginError(`the path leads to ${target.origin}, not to ${base.origin}`)
}

/** @throws {NotSupportedError} `ERR_NOT_SUPPORTED` */
function checkOptions({ method, maxRedirections }: DispatchOptions): void {
  if (method === 'CONNECT') {
    throw new NotSupportedError(
      'the method CONNECT is for proxies, and an API server is not a proxy',
      {
        hint: 'Use upgrade() to open a connection to a pod.',
      },
    )
  }
  if ((maxRedirections ?? 0) > 0) {
    throw new NotSupportedError(
      'maxRedirections would follow redirects without checking their origin',
      {
        hint: 'Compose undici.interceptors.redirect() after this dispatcher, so that every redirect is checked.',
      },
    )
  }
}

/** Merges the caller's headers, in any form that undici accepts, into the defaults. */
export function headersOf({ headers }: DispatchOptions, defaults: HeaderValues): HeaderValues {
  const own = readHeaders(headers)
  const merged = mergeHeaders(defaults, own)
  for (const name of KEPT) {
    const value = own[name]
    if (value !== undefined) merged[name] = value
  }
  return merged
}

/** Left to undici, which checks them; `mergeHeaders` removes them because `cluster.fetch` sets them itself. */
const KEPT = ['connection', 'content-length', 'transfer-encoding']

function readHeaders(given: unknown): HeaderValues {
  const headers: HeaderValues = {}
  for (const [name, value] of pairsOf(given)) {
    if (value === undefined) continue
    const key = String(name).toLowerCase()
    const values = [value].flat().map((each) => (each === null ? '' : String(each)))
    const before = headers[key]
    const all = before === undefined ? values : [before, values].flat()
    headers[key] = all.length === 1 ? (all[0] ?? '') : all
  }
  return headers
}

function pairsOf(given: unknown): Iterable<readonly [unknown, unknown]> {
  if (given === undefined || given === null) return []
  if (Array.isArray(given) && !Array.isArray(given[0])) return flatPairs(given)
  if (typeof given !== 'object') throw new TypeError('headers must be an object or an array')
  return Symbol.iterator in given
    ? (given as Iterable<readonly [unknown, unknown]>)
    : Object.entries(given)
}

function flatPairs(list: readonly unknown[]): [unknown, unknown][] {
  if (list.length % 2 !== 0) throw new TypeError('headers array must be even')
  return Array.from({ length: list.length / 2 }, (_, index) => [
    list[2 * index],
    list[2 * index + 1],
  ])
}

/** A body that may be sent more than once. */
interface ReplayableBody {
  /** Returns the body for one try; called again for the next. */
  open(): unknown
  canReplay(): boolean
}

/** Records small bodies that can be read only once: streams, and the generators that undici's fetch makes of bodies. */
function bodyOf({ body }: DispatchOptions): ReplayableBody {
  if (!isReadOnce(body)) return { open: () => body, canReplay: () => true }
  const source = isStream(body) ? body : Readable.from(body)
  const recording = new RecordedBody(source)
  return { open: () => recording.open(), canReplay: () => recording.isWhole }
}

type ReadOnceBody = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

function isReadOnce(body: unknown): body is ReadOnceBody {
  if (typeof body !== 'object' || body === null) return false
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return false
  // Forms and blobs of any copy of undici are encoded again for each try.
  const kind = (body as { [Symbol.toStringTag]?: string })[Symbol.toStringTag]
  if (kind === 'FormData' || kind === 'Blob' || kind === 'File') return false
  return Symbol.asyncIterator in body || Symbol.iterator in body
}

function isStream(body: object): body is Readable {
  return 'pipe' in body && 'on' in body
}
