import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { splitPath } from '../request/request-target.ts'
import type { StatusResponse } from './reject-request.ts'

/** Longer paths are cut in the summary of a request. */
const MAX_PATH_LENGTH = 1_000

/** Where to report requests. */
export interface RecordOptions {
  /** Called when a response begins. */
  readonly onRequest: ((note: RequestSummary) => void) | undefined
  /** Called when a response has ended. */
  readonly onRequestEnd: ((note: EndedRequest) => void) | undefined
  /** Called with any error of these functions. */
  readonly onThrown: (error: unknown) => void
}

/** Measures one request, and reports it when its response begins and when it has ended. */
export class RequestRecord {
  readonly #options: RecordOptions
  readonly #request: IncomingMessage
  readonly #isUpgrade: boolean
  readonly #isWanted: boolean
  readonly #receivedAt: number
  readonly #startedAt: number
  readonly #address: string | undefined
  readonly #sentBefore: number
  #summary: RequestSummary | undefined
  #hasEnded = false
  /** The user name of the caller, once it is known. */
  caller: string | undefined

  constructor(
    options: RecordOptions,
    request: IncomingMessage,
    { isUpgrade }: { readonly isUpgrade: boolean },
  ) {
    const { onRequest, onRequestEnd } = options
    this.#options = options
    this.#request = request
    this.#isUpgrade = isUpgrade
    this.#isWanted = onRequest !== undefined || onRequestEnd !== undefined
    this.#receivedAt = this.#isWanted ? Date.now() : 0
    this.#startedAt = this.#isWanted ? performance.now() : 0
    // A closed socket has no address.
    this.#address = onRequestEnd && request.socket.remoteAddress
    this.#sentBefore = onRequestEnd === undefined ? 0 : request.socket.bytesWritten
  }

  /** The server responded. */
  responded(status: number): void {
    this.#report(status)
  }

  /** The proxy responded itself. */
  rejected({ status, why }: StatusResponse): void {
    this.#report(status, why)
  }

  /** The client disconnected before the response. */
  aborted(): void {
    this.#report(0)
  }

  /** The response was sent, or the connection was closed. */
  ended(): void {
    const { onRequestEnd, onThrown } = this.#options
    if (onRequestEnd === undefined || this.#hasEnded) return
    this.#hasEnded = true
    this.#report(0)
    if (this.#summary === undefined) return
    const note: EndedRequest = {
      ...this.#summary,
      totalMs: performance.now() - this.#startedAt,
      sentBytes: this.#request.socket.bytesWritten - this.#sentBefore,
      ...(this.#address !== undefined && { address: this.#address }),
    }
    call(onRequestEnd, note, onThrown)
  }

  #report(status: number, rejectedFor?: string): void {
    if (!this.#isWanted || this.#summary !== undefined) return
    const { method = '', url = '' } = this.#request
    const { onRequest, onThrown } = this.#options
    this.#summary = {
      at: this.#receivedAt,
      method,
      path: splitPath(url).pathname.slice(0, MAX_PATH_LENGTH),
      status,
      tookMs: performance.now() - this.#startedAt,
      isUpgrade: this.#isUpgrade,
      ...(this.caller !== undefined && { caller: this.caller }),
      ...(rejectedFor !== undefined && { rejectedFor }),
    }
    if (onRequest !== undefined) call(onRequest, this.#summary, onThrown)
  }
}

/** Reports bytes that are not a request. They have no method and no path. */
export function recordMalformed(
  { onRequestEnd, onThrown }: RecordOptions,
  socket: Duplex,
  { status, why: rejectedFor }: StatusResponse,
): void {
  if (onRequestEnd === undefined) return
  const { remoteAddress: address } = socket as Socket
  const none = { method: '', path: '', isUpgrade: false, tookMs: 0, totalMs: 0, sentBytes: 0 }
  const note = { at: Date.now(), ...none, status, rejectedFor, ...(address && { address }) }
  call(onRequestEnd, note, onThrown)
}

/** An error of a listener must not fail the request. */
function call<T>(listener: (note: T) => void, note: T, onThrown: (error: unknown) => void): void {
  try {
    listener(note)
  } catch (error) {
    onThrown(error)
  }
}

/** The outcome of one request to the proxy. Contains no header, body or query, because those may be secret. */
export interface RequestSummary {
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The path without its query. */
  readonly path: string
  /** The status of the response; 0 if the client disconnected before. */
  readonly status: number
  /** Time until the response headers; for an upgrade, until the protocol was switched. */
  readonly tookMs: number
  readonly isUpgrade: boolean
  /** The user name of the caller; undefined if all callers share a secret, or the request was refused before. */
  readonly caller?: string
  /** Why the proxy itself responded; undefined if the server did. */
  readonly rejectedFor?: string
}

/** A request whose response has ended. Bytes that are not a request have neither method nor path. */
export interface EndedRequest extends RequestSummary {
  /** Time until the end of the response, or of the upgraded connection. */
  readonly totalMs: number
  /** Bytes sent to the client on this connection meanwhile: headers and body. */
  readonly sentBytes: number
  /** The IP address of the client; undefined on a unix socket. */
  readonly address?: string
}
