import type { CredentialError, UnexpectedError } from '../errors/index.ts'

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
export function statusText({ status, message, code }: StatusAnswer): string {
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
export function statusHeaders(answer: StatusAnswer, text: string): Record<string, string> {
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
