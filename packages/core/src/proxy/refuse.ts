import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerOn } from '../bridge/answer.ts'
import { type StatusAnswer, statusHeaders, statusText } from './status-answer.ts'

/** What is read of a body that nobody wants, so that the client gets to our answer. */
const MOST_DRAINED = 1024 * 1024
const LONGEST_DRAIN_MS = 2_000

/**
 * Answers a request in the server's place.
 *
 * A body that is still on its way is read for a moment: a connection that is closed with something unread in it
 * is reset, and the answer may be lost with it.
 */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  answer: StatusAnswer,
): void {
  const text = statusText(answer)
  const headers = statusHeaders(answer, text)
  if (request.complete || !hasBody(request)) {
    response.writeHead(answer.status, headers).end(text)
    return
  }
  response.writeHead(answer.status, { ...headers, connection: 'close' }).write(text)
  let size = 0
  const finish = (): void => void response.end()
  const timer = setTimeout(finish, LONGEST_DRAIN_MS)
  response.once('close', () => clearTimeout(timer))
  request.on('error', () => {}).once('end', finish)
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MOST_DRAINED) finish()
  })
}

/**
 * Answers on a connection that Node's server has let go of, and ends it.
 *
 * Node has no limits on it any more. Whoever does not close their side must not keep it.
 */
export function refuseSocket(request: IncomingMessage, socket: Duplex, answer: StatusAnswer): void {
  const text = statusText(answer)
  try {
    const response = answerOn(socket, request)
    endSoon(socket)
    response.writeHead(answer.status, statusHeaders(answer, text)).end(text)
  } catch {
    // Another answer was begun on it.
    socket.destroy()
  }
}

/** Sees to it that a connection ends a moment after its last byte was written, whatever the client does. */
export function endSoon(socket: Duplex): void {
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), LONGEST_DRAIN_MS)
    socket.once('close', () => clearTimeout(timer))
  })
  socket.resume()
}

/** Answers what was no request: there is only the connection. */
export function refuseBytes(socket: Duplex, error: Error & { code?: string }): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const answer = misread(error.code)
  const text = statusText(answer)
  const lines = Object.entries({ ...statusHeaders(answer, text), connection: 'close' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = `HTTP/1.1 ${answer.status} ${WORDS[answer.status] ?? 'Bad Request'}\r\n`
  socket.end(`${head}${lines}\r\n${text}`, () => socket.destroy())
}

function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  return (headers['content-length'] ?? '0') !== '0'
}

const WORDS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function misread(code = ''): StatusAnswer {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, why: 'headers', message: 'the headers of the request are too large' }
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, why: 'time', message: 'the request did not come in time' }
  }
  return { status: 400, why: 'no request', message: `this is no request in HTTP/1.1 (${code})` }
}
