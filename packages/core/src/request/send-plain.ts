import type { Readable } from 'node:stream'
import type { HeaderValues } from '../exchange/exchange.ts'
import type { ResponseHeaders } from '../exchange/handler.ts'
import { asksCompressed, mergeHeaders } from './headers.ts'
import { type HasLine, lineOf } from './line.ts'
import { withBufferedBody } from './outgoing-request.ts'
import { decodedBody } from './response.ts'

/** A request without the global classes. */
export interface PlainRequest {
  readonly method: string
  /** Names in lower case. */
  readonly headers: HeaderValues
  readonly body?: Uint8Array | undefined
  readonly signal: AbortSignal
}

/** A response without the global classes. */
export interface PlainResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: ResponseHeaders
  /** Decompressed. */
  readonly body: Readable
}

/**
 * Sends a request as `cluster.fetch` does, without the global `Headers` and `Response`.
 *
 * Node loads those on first use, which takes about as long as a short program needs for everything else.
 *
 * @throws {CredentialError} If no response was received; after an abort, the signal's reason.
 */
export async function sendPlain(
  cluster: HasLine,
  path: string,
  { method, headers, body, signal }: PlainRequest,
): Promise<PlainResponse> {
  const line = lineOf(cluster, 'sendPlain')
  const head = {
    method,
    headers: mergeHeaders(line.defaults, headers),
    signal,
    asksCompressed: asksCompressed(line.defaults, headers),
  }
  const call = await line.send(line.find(path), withBufferedBody(head, body))
  const { statusCode: status, statusText } = call
  return { status, statusText, headers: call.headers, body: decodedBody(call) }
}
