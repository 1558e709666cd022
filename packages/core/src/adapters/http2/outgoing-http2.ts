import { Readable } from 'node:stream'
import { ForeignOriginError } from '../../errors/index.ts'
import { type HeaderValues, mergeHeaders } from '../../transport/default-headers.ts'
import type { Outgoing } from '../../transport/outgoing.ts'
import { RecordedBody } from '../../transport/recorded-body.ts'
import type { Target } from '../../transport/target.ts'

/** Headers of a request; those that begin with a colon say what and where, as in Node's own `http2`. */
export interface Http2Headers {
  /** GET unless told. */
  readonly ':method'?: string
  /** Begins with a slash and may have a query. `/` unless told. */
  readonly ':path'?: string
  /** Where given, these must be the cluster's own. */
  readonly ':scheme'?: string
  readonly ':authority'?: string
  readonly [name: string]: string | readonly string[] | undefined
}

/**
 * Sees to it that the headers do not mean another server.
 *
 * @throws {ForeignOriginError}
 */
export function checkOrigin(headers: HeaderValues, { origin }: Target): void {
  const { protocol, host } = new URL(origin)
  const scheme = headers[':scheme'] ?? protocol.slice(0, -1)
  for (const authority of [headers[':authority'], headers['host']]) {
    const asked = `${scheme}://${authority ?? host}`
    if (originOf(asked) === origin) continue
    throw new ForeignOriginError(`${asked} is not this cluster (${origin})`, {
      hint: 'Leave :scheme, :authority and host out: the client knows its cluster.',
    })
  }
}

/** The default port may be written or not. */
function originOf(asked: string): string | undefined {
  return URL.canParse(asked) ? new URL(asked).origin : undefined
}

/** Makes an outgoing request; nothing of the caller's changes. */
export function outgoingHttp2(
  given: HeaderValues,
  {
    body,
    signal,
  }: { readonly body?: string | Uint8Array | Readable; readonly signal?: AbortSignal },
  defaults: HeaderValues,
): Outgoing {
  const head = {
    method: pseudo(given, ':method') ?? 'GET',
    headers: mergeHeaders(defaults, ordinary(given)),
    signal,
  }
  if (body instanceof Readable) {
    const recorded = new RecordedBody(body)
    return {
      ...head,
      body: () => recorded.open(),
      canReplay: () => recorded.isWhole,
      bodyError: () => recorded.error,
    }
  }
  const content = typeof body === 'string' ? Buffer.from(body) : body
  return { ...head, body: () => content, canReplay: () => true }
}

/** Names in lower case, as HTTP/2 has them; values as they are. */
export function copyHeaders(given: Http2Headers): HeaderValues {
  const headers: HeaderValues = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    headers[name.toLowerCase()] = typeof value === 'string' ? value : [...value]
  }
  return headers
}

/** A header that says what or where; there is only one of each. */
export function pseudo(headers: HeaderValues, name: `:${string}`): string | undefined {
  const value = headers[name]
  return value === undefined ? undefined : String(value)
}

function ordinary(given: HeaderValues): HeaderValues {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')))
}
