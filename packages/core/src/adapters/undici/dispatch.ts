import { Readable } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import { ForeignOriginError, NotSupportedError } from '../../errors/index.ts'
import type { ConnectionOwner, Exchange, HeaderValues, Sendable } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import { Call } from '../../request/call.ts'
import { mergeHeaders } from '../../request/headers.ts'
import type { Line } from '../../request/line.ts'
import { type Outgoing, RecordedBody } from '../../request/outgoing-request.ts'
import type { RequestTarget } from '../../request/request-target.ts'
import type { DispatchOptions } from './dispatcher-options.ts'
import { asHandler, HandlerCaller, type LegacyHandler } from './handlers.ts'

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
    const gone = line.hasServerPerLogin ? new AbortController() : undefined
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

/**
 * Finds where a dispatched request goes.
 *
 * With an origin, the path is the whole path, as in a URL. Without one it is appended to the server's
 * own path, as in `cluster.fetch`.
 *
 * @throws {ForeignOriginError} Nothing was sent.
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

/** @throws {NotSupportedError} */
function checkOptions({ method, maxRedirections }: DispatchOptions): void {
  if (method === 'CONNECT') {
    throw new NotSupportedError('CONNECT asks for a proxy, and an API server is none', {
      hint: 'Use upgrade() to open a connection to a pod.',
    })
  }
  if ((maxRedirections ?? 0) > 0) {
    throw new NotSupportedError('maxRedirections would follow a redirect behind our back', {
      hint: 'Compose undici.interceptors.redirect() after this: every hop is then checked.',
    })
  }
}

/** The caller's headers, in whichever form undici takes them, over those that go on every request. */
export function headersOf({ headers }: DispatchOptions, defaults: HeaderValues): HeaderValues {
  const own = readHeaders(headers)
  const merged = mergeHeaders(defaults, own)
  for (const name of KEPT) {
    const value = own[name]
    if (value !== undefined) merged[name] = value
  }
  return merged
}

/** `cluster.fetch` decides about these itself; here undici does, and says so if it does not like them. */
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

/** A body that may have to be sent twice. */
interface SentBody {
  /** The body for one try; call it again for the next. */
  open(): unknown
  canReplay(): boolean
}

/** What comes only once (streams, and the generator that undici's fetch makes of every body) is recorded while small. */
function bodyOf({ body }: DispatchOptions): SentBody {
  if (!comesOnce(body)) return { open: () => body, canReplay: () => true }
  const source = isStream(body) ? body : Readable.from(body)
  const recorded = new RecordedBody(source)
  return { open: () => recorded.open(), canReplay: () => recorded.isWhole }
}

type Once = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

function comesOnce(body: unknown): body is Once {
  if (typeof body !== 'object' || body === null) return false
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return false
  // Forms and blobs of any copy of undici: each try encodes them anew.
  const kind = (body as { [Symbol.toStringTag]?: string })[Symbol.toStringTag]
  if (kind === 'FormData' || kind === 'Blob' || kind === 'File') return false
  return Symbol.asyncIterator in body || Symbol.iterator in body
}

function isStream(body: object): body is Readable {
  return 'pipe' in body && 'on' in body
}
