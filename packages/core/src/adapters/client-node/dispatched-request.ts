import { Readable } from 'node:stream'
import type { HeaderValues } from '../../exchange/exchange.ts'
import { inMemory, type Outgoing, recorded } from '../../request/outgoing.ts'
import { MOST_RECORDED } from '../../request/recorded-body.ts'
import { headersOf } from '../undici/request-parts.ts'
import type { DispatchOptions } from '../undici/undici-module.ts'

/** Makes an outgoing request from one that came to a dispatcher. */
export async function dispatchedRequest(
  options: DispatchOptions,
  defaults: HeaderValues,
  signal: AbortSignal,
): Promise<Outgoing> {
  const {
    'content-length': size = Number.POSITIVE_INFINITY,
    // The connection's own business.
    'transfer-encoding': _,
    connection: __,
    ...headers
  } = headersOf(options, defaults)
  const head = { method: options.method, headers, signal }
  const content = await readBody(options.body, Number(size))
  return content instanceof Readable ? recorded(head, content) : inMemory(head, content)
}

/** fetch gives an iterable that comes once; a small one is read first, so that it can be sent again. */
async function readBody(body: unknown, size: number): Promise<Uint8Array | Readable | undefined> {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  const stream = body instanceof Readable ? body : Readable.from(body as AsyncIterable<Uint8Array>)
  if (size > MOST_RECORDED) return stream
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}
