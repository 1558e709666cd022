import { isUtf8 } from 'node:buffer'
import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { IncomingResponse } from '../request/incoming-response.ts'

/** Answers up to this size are put together with their head before they are written. */
const SMALL = 16 * 1024

/** What to do when an answer cannot be sent to its end. */
interface AnswerFailures {
  /** Called when its body breaks off, so that the client does not take what it has for all of it. */
  readonly cutOff: (error: Error | undefined) => void
  /** Called when it cannot be written at all; by default `cutOff` is. */
  readonly unsendable?: (error: unknown) => void
}

/**
 * Sends an answer on to the client.
 *
 * @param given Its headers, names and values in turns; then a length may be added to them. Else it goes as it came.
 */
export function sendResponse(
  response: ServerResponse,
  incoming: IncomingResponse,
  { cutOff, unsendable }: AnswerFailures,
  given?: OutgoingHttpHeader[],
): void {
  const headers = given ?? endToEnd(incoming)
  const mayJoin = given !== undefined || incoming.headers['content-length'] !== undefined
  response.sendDate = false
  // Most answers are all here by now.
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

/** Sends the head of an answer and what is here of its body, and lets the rest follow. */
function sendStream(
  response: ServerResponse,
  incoming: IncomingResponse,
  cutOff: AnswerFailures['cutOff'],
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
  // So that a watch without events yet is known to be open. `flushHeaders` would encode them a second time.
  response.write('', 'latin1')
  body.pipe(response)
}

/** Sends an answer that is all here. A small one goes in one piece: a second write would cost as much as the rest. */
function sendWhole(
  response: ServerResponse,
  incoming: IncomingResponse,
  whole: Buffer,
  headers: OutgoingHttpHeader[],
): void {
  if (incoming.headers['content-length'] === undefined)
    headers.push('content-length', String(whole.length))
  response.writeHead(incoming.statusCode, reasonPhrase(incoming), headers)
  // As text, because Node joins only texts with the head.
  if (whole.length <= SMALL) response.end(whole.toString('latin1'), 'latin1')
  else response.end(whole)
}

/** The beginning of an answer that hands the connection over, which Node's server leaves to us. */
export function formatResponseHead(
  incoming: IncomingResponse,
  headers = endToEnd(incoming),
): string {
  let lines = `HTTP/1.1 ${incoming.statusCode} ${reasonPhrase(incoming)}\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    for (const value of [headers[at + 1] ?? ''].flat()) lines += `${headers[at]}: ${value}\r\n`
  }
  return `${lines}connection: Upgrade\r\n\r\n`
}

/** The reason phrase of the status line. HTTP/2 has none, but programs that speak HTTP/1.1 show it to people. */
function reasonPhrase({ statusCode, statusText }: IncomingResponse): string {
  return statusText === '' ? (STATUS_CODES[statusCode] ?? '') : encodeHeaderValue(statusText)
}

/** An ordinary answer to an upgrade, after which the connection ends. Node's server has let go of the socket. */
export function createResponseOn(socket: Duplex, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  socket.on('drain', () => response.emit('drain'))
  return response
}

/** Between the server and us alone; a trailer is not passed on, so it must not be announced. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'proxy-connection',
  'trailer',
])

/** Names and values in turns, as Node takes them without looking at them twice. */
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
 * A header's value with a character for each of its bytes, which is how Node writes headers.
 *
 * undici reads them as UTF-8, Node byte by byte. A warning of Kubernetes may hold any language.
 */
export function encodeHeaderValue(value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  const isBytes = bytes.toString('latin1') === value && isUtf8(bytes)
  return isBytes ? value : Buffer.from(value, 'utf8').toString('latin1')
}
