import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createResponseOn } from '../bridge/send-response.ts'
import type { CredentialError, UnexpectedError } from '../errors/index.ts'

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
    const response = createResponseOn(socket, request)
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

/** An answer of the proxy itself. */
export interface StatusAnswer {
  /** The HTTP status. */
  readonly status: number
  /** In a word or two, for the note about the request. */
  readonly why: string
  /** What happened, and what to do about it. */
  readonly message: string
  /** Of the error, if one was the cause. */
  readonly code?: string
}

/** The words of Kubernetes for a status, which kubectl shows. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  417: 'ExpectationFailed',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** A `Status` of Kubernetes that says whose answer it is. */
function statusText({ status, message, code }: StatusAnswer): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `kubecred proxy: ${message}`,
    reason: REASONS[status],
    ...(code !== undefined && { details: { causes: [{ reason: code, message }] } }),
    code: status,
  })
}

/** Headers of an answer of our own. */
function statusHeaders(answer: StatusAnswer, text: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 401 && { 'www-authenticate': 'Bearer realm="kubecred proxy"' }),
  }
}

/** The answer when the server gave none and the reason is known. */
export function answerFor(error: CredentialError): StatusAnswer {
  const { code, message, hint } = error
  return { status: statusOf(error), why: code, code, message: `${message} (${code}). ${hint}` }
}

/** The answer for any other error: its id only, because its text may quote anything. */
export function internalError({ id }: UnexpectedError): StatusAnswer {
  const message = `internal error ${id}. Look for this id in the standard error of the proxy.`
  return { status: 500, why: 'unexpected', message }
}

const STATUSES: Readonly<Record<string, number>> = {
  ERR_NOT_SUPPORTED: 400,
  ERR_SERVER_UNREACHABLE: 502,
  ERR_CERTIFICATE_REFUSED: 502,
  ERR_PROXY_FAILED: 502,
  ERR_TIMED_OUT: 504,
  ERR_CLOSED: 503,
}

/** What may pass by itself is 503, the rest 502: the request was good, what is behind us was not. */
function statusOf(error: CredentialError): number {
  return STATUSES[error.code] ?? (error.retryable ? 503 : 502)
}
