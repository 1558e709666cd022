import type { Readable } from 'node:stream'
import type { Lease } from '../vault/lease.ts'
import type { HeaderValues } from './default-headers.ts'
import type { Target } from './target.ts'

/** One try of a request. */
export interface Try {
  readonly method: string
  readonly path: string
  readonly headers: HeaderValues
  readonly body: Uint8Array | Readable | undefined
  readonly signal: AbortSignal | undefined
  /** Whether the response stays open by design. */
  readonly isStream: boolean
  /** The gate's round: with a new one, short requests need connections that nobody holds. */
  readonly round: number
  /**
   * Told when all of the response has arrived, or will never.
   *
   * Not when it was read: many callers look at the status only, and what nobody reads never ends.
   */
  readonly passage: { done(): void }
  /** Throws when nothing may be sent any more; asked when there is a connection to send it on. */
  readonly checkOpen: () => void
  /** How to end what is on its way and not answered yet: the end of the line is its end too. */
  readonly wire: Set<(reason: Error) => void>
}

/** A response as it comes; the names are undici's, so that its own objects fit. */
export interface Incoming {
  readonly statusCode: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
  /** The server that answered, where it was chosen with the credential. */
  readonly target?: Target
}

/** Sends one try over connections that belong to the lease. The certificate is in the connection, headers in the try. */
export interface Exchange {
  send(
    target: Target,
    lease: Pick<Lease, 'credential' | 'derived'>,
    attempt: Try,
  ): Promise<Incoming>
}

/** Limits of the connections of one identity to one server. */
export interface ConnectionLimits {
  /** Short requests at once. */
  readonly requests: number
  /** Watches and other long responses at once. */
  readonly streams: number
}
