import type { Readable } from 'node:stream'
import type { HeaderValues } from '../exchange/exchange.ts'
import { RecordedBody } from './recorded-body.ts'

/** A request in the form our transports take, made from the global classes. */
export interface Outgoing {
  readonly method: string
  readonly headers: HeaderValues
  readonly signal: AbortSignal | undefined
  /** The body for one try; call it again for the next. */
  readonly body: () => Uint8Array | Readable | undefined
  /** Why the caller's own stream failed, if it did: that is not the server's fault. */
  readonly bodyError?: () => unknown
  /** Set when the answer stays open by design, whatever the path says: a connection that is handed over. */
  readonly isStream?: boolean
  /** Set when only we ask for a compressed answer, which the login may not want. */
  readonly asksCompressed?: boolean
  /** Whether `body` can be called again. */
  readonly canReplay: () => boolean
}

/** A request whose body, if it has one, is in memory. */
export function inMemory(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal'>,
  content: Uint8Array | undefined,
): Outgoing {
  return { ...head, body: () => content, canReplay: always }
}

/** A request whose body comes once: it can be sent again while it is small. */
export function recorded(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal'>,
  source: Readable,
): Outgoing {
  const body = new RecordedBody(source)
  return {
    ...head,
    body: () => body.open(),
    canReplay: () => body.isWhole,
    bodyError: () => body.error,
  }
}

const always = (): boolean => true
