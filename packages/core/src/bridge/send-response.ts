import { isUtf8 } from 'node:buffer'
import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { IncomingResponse } from '../request/incoming-response.ts'

/** Responses up to this size are written together with their headers. */
const MAX_JOINED_BYTES = 16 * 1024

/** Called when a response cannot be sent completely. */
interface ResponseFailures {
  /** Called when the body breaks off: the client must not take it for complete. */
  readonly cutOff: (error: Error | undefined) => void
  /** Called when the response cannot be written at all; by default `cutOff` is called. */
  readonly unsendable?: (error: unknown) => void
}

/**
 * Sends a response on to the client.
 *
 * @param given Its headers as a flat list of names and values, to which a length may be added. By default the headers
 * that were received.
 */
export function sendResponse(
  response: ServerResponse,
  incoming: IncomingResponse,
  { cutOff, unsendable }: ResponseFailures,
  given?: OutgoingHttpHeader[],
): void {
  const headers = given ?? endToEnd(incoming)
  const mayJoin = given !== undefined || incoming.headers['content-length'] !== undefined
  response.sendDate = false
  // Most responses have arrived completely by now.
  const whole = mayJoin ? incoming.takeWhole() : undefined
  if (whole === undefined) {
    sendStream(response, incoming, cutOff, headers)
    return
  }
  try {
    sendWhole(response, incoming, whole, headers)
  } catch (error) {
    if (unsendable === undefined) cutOff(error as Error)
    else unsendable(error)
  }
}

/** Sends the headers of a response, then its body as it arrives. */
function sendStream(
  response: ServerResponse,
  incoming: IncomingResponse,
  cutOff: ResponseFailures['cutOff'],
  headers: OutgoingHttpHeader[],
): void {
  const { body } = incoming
  let failure: Error | undefined
  body.once('error', (error) => {
    failure = error
  })
  body.once('close', () => body.readableEnded || cutOff(failure))
  response.once('close', () => body.destroy())
  response.writeHead(incoming.statusCode, reasonPhrase(incoming), headers)
  // Sends the headers at once, so that a client sees that a watch is open. `flushHeaders` would encode them twice.
  response.write('', 'latin1')
  body.pipe(response)
}

/** Sends a complete response. A small one is written at once: a second write would cost as much as everything else. */
function sendWhole(
  response: ServerResponse,
  incoming: IncomingResponse,
  whole: Buffer,
  headers: OutgoingHttpHeader[],
): void {
  if (incoming.headers['content-length'] === undefined)
    headers.push('content-length', String(whole.length))
  response.writeHead(incoming.statusCode, reasonPhrase(incoming), headers)
  // As a string, because Node joins only strings with the headers.
  if (whole.length <= MAX_JOINED_BYTES) response.end(whole.toString('latin1'), 'latin1')
  else response.end(whole)
}

/** The lines that end the head of a 101 response. */
export const UPGRADED = 'connection: Upgrade\r\n'

/**
 * Formats the head of a response that no `ServerResponse` writes.
 *
 * @param last The lines about the connection.
 * @throws {TypeError} If a header could not be sent, as Node's server does.
 */
export function formatResponseHead(
  incoming: IncomingResponse,
  last: string,
  headers = endToEnd(incoming),
): string {
  const phrase = reasonPhrase(incoming)
  validateHeaderValue('reason phrase', phrase)
  let lines = `HTTP/1.1 ${incoming.statusCode} ${phrase}\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    const values = headers[at + 1] ?? ''
    validateHeaderName(name)
    for (const value of Array.isArray(values) ? values : [String(values)]) {
      validateHeaderValue(name, value)
      lines += `${name}: ${value}\r\n`
    }
  }
  return `${lines}${last}\r\n`
}

/** Returns the reason phrase of the status line. HTTP/2 has none, but HTTP/1.1 clients show it to people. */
function reasonPhrase({ statusCode, statusText }: IncomingResponse): string {
  return statusText === '' ? (STATUS_CODES[statusCode] ?? '') : encodeHeaderValue(statusText)
}

/** Makes an ordinary response to an upgrade request, whose socket Node's server has detached. It ends the connection. */
export function createResponseOn(socket: Duplex, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  socket.on('drain', () => response.emit('drain'))
  return response
}

/** Not passed on. `trailer` neither: trailers are not passed on, so they must not be announced. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'proxy-connection',
  'trailer',
])

/** Returns a flat list of names and values, which Node writes without processing it again. */
function endToEnd({ headers }: IncomingResponse): OutgoingHttpHeader[] {
  const kept: OutgoingHttpHeader[] = []
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || HOP_BY_HOP.has(name)) continue
    kept.push(
      name,
      typeof value === 'string' ? encodeHeaderValue(value) : value.map(encodeHeaderValue),
    )
  }
  return kept
}

/**
 * Encodes a header value with one character per byte, as Node writes it.
 *
 * undici decodes headers as UTF-8, Node as Latin-1. A `Warning` header of Kubernetes may be in any language.
 */
export function encodeHeaderValue(value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  const isEncoded = bytes.toString('latin1') === value && isUtf8(bytes)
  return isEncoded ? value : Buffer.from(value, 'utf8').toString('latin1')
}
