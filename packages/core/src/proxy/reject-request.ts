import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createResponseOn } from '../bridge/send-response.ts'
import type { CredentialError, UnexpectedError } from '../errors/index.ts'
import type { Caller } from './authenticate.ts'

/** How much of the body of a rejected request is read, so that the client gets to read the response. */
const MAX_DRAIN_BYTES = 1024 * 1024
const MAX_DRAIN_MS = 2_000

/**
 * Responds to a request in place of the server.
 *
 * A body that is still being sent is read for a short time: closing a connection with unread data resets it, and the
 * response may be lost.
 */
export function rejectRequest(
  request: IncomingMessage,
  response: ServerResponse,
  rejection: StatusResponse,
): void {
  const text = statusText(rejection)
  const headers = statusHeaders(rejection, text)
  if (request.complete || !hasBody(request)) {
    response.writeHead(rejection.status, headers).end(text)
    return
  }
  response.writeHead(rejection.status, { ...headers, connection: 'close' }).write(text)
  let size = 0
  const finish = (): void => void response.end()
  const timer = setTimeout(finish, MAX_DRAIN_MS)
  response.once('close', () => clearTimeout(timer))
  request.on('error', () => {}).once('end', finish)
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_DRAIN_BYTES) finish()
  })
}

/**
 * Responds to an upgrade request, and closes the connection.
 *
 * Node's limits no longer apply to such a connection, so it is closed even if the client keeps its side open.
 */
export function rejectUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  rejection: StatusResponse,
): void {
  const text = statusText(rejection)
  try {
    const response = createResponseOn(socket, request)
    closeAfterFlush(socket)
    response.writeHead(rejection.status, statusHeaders(rejection, text)).end(text)
  } catch {
    // Another response has begun on this connection.
    socket.destroy()
  }
}

/** Closes a connection shortly after its last byte was written, whatever the client does. */
export function closeAfterFlush(socket: Duplex): void {
  socket.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), MAX_DRAIN_MS)
    socket.once('close', () => clearTimeout(timer))
  })
  socket.resume()
}

/** Responds to bytes that Node could not parse as a request. Returns the response, if one was sent. */
export function rejectMalformed(
  socket: Duplex,
  error: Error & { code?: string },
): StatusResponse | undefined {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return undefined
  }
  const rejection = describeParseError(error.code)
  const text = statusText(rejection)
  const lines = Object.entries({ ...statusHeaders(rejection, text), connection: 'close' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = `HTTP/1.1 ${rejection.status} ${STATUS_TEXTS[rejection.status] ?? 'Bad Request'}\r\n`
  socket.end(`${head}${lines}\r\n${text}`, () => socket.destroy())
  return rejection
}

function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  return (headers['content-length'] ?? '0') !== '0'
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function describeParseError(code = ''): StatusResponse {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, why: 'headers', message: 'the request headers are too large' }
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, why: 'time', message: 'the request headers did not arrive in time' }
  }
  return { status: 400, why: 'no request', message: `malformed HTTP/1.1 request (${code})` }
}

/** A response of the proxy itself. */
export interface StatusResponse {
  /** The HTTP status. */
  readonly status: number
  /** The cause in a word or two, for `RequestSummary.rejectedFor`. */
  readonly why: string
  /** What happened and what to do. */
  readonly message: string
  /** The code of the error that caused it, if any. */
  readonly code?: string
  /** Who sent the request, if that is known; not sent to the client. */
  readonly caller?: Caller
}

/** The reasons of Kubernetes (metav1.StatusReason) where it has them; kubectl shows them. */
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

/** Encodes a Kubernetes `Status`. The message names the proxy, so that it is not mistaken for the server's. */
function statusText({ status, message, code }: StatusResponse): string {
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

/** Returns the headers for an encoded `Status`. */
function statusHeaders(rejection: StatusResponse, text: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    ...(rejection.status === 401 && { 'www-authenticate': 'Bearer realm="kubecred proxy"' }),
  }
}

/** Returns the response for a failure with a known cause. */
export function responseForError(error: CredentialError): StatusResponse {
  const { code, message, hint } = error
  return { status: statusOf(error), why: code, code, message: `${message} (${code}). ${hint}` }
}

/**
 * Returns the response for any other error.
 *
 * Its message is one line without secrets; the stack is reported under the same id, but never sent to clients.
 */
export function internalError({ id, message }: UnexpectedError): StatusResponse {
  const where = `Look for id ${id} in the standard error of the proxy.`
  return { status: 500, why: 'unexpected', message: `internal error: ${message}. ${where}` }
}

const STATUSES: Readonly<Record<string, number>> = {
  ERR_NOT_SUPPORTED: 400,
  ERR_SERVER_UNREACHABLE: 502,
  ERR_CERTIFICATE_REFUSED: 502,
  ERR_PROXY_FAILED: 502,
  ERR_TIMED_OUT: 504,
  ERR_CLOSED: 503,
}

/** Retryable errors are 503, the rest 502: the request was valid, but what is behind the proxy failed. */
function statusOf(error: CredentialError): number {
  return STATUSES[error.code] ?? (error.retryable ? 503 : 502)
}
