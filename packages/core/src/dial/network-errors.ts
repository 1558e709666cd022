import {
  CertificateRefusedError,
  type CredentialError,
  type ErrorInit,
  exhaustedError,
  ServerUnreachableError,
  ServerUntrustedError,
} from '../errors/index.ts'
import { UNREACHABLE_REASONS, UNTRUSTED_REASONS } from '../errors/transport-errors.ts'
import { certificateAlert } from '../tls/alert.ts'

/** Says what went wrong on the way to the server: whose fault, and why. */
export function explainNetworkError(
  cause: unknown,
  server: string,
  { hint }: Pick<ErrorInit, 'hint'> = {},
): CredentialError {
  const exhausted = exhaustedError(cause)
  if (exhausted !== undefined) return exhausted
  const { code = '' } = (cause ?? {}) as { code?: string }
  const alert = certificateAlert(cause)
  if (alert !== undefined) return new CertificateRefusedError(server, alert, { cause })
  const untrusted = UNTRUSTED_REASONS[code]
  if (untrusted !== undefined) return new ServerUntrustedError(server, untrusted, { hint, cause })
  return new ServerUnreachableError(server, sayUnreachable(cause), { hint, cause })
}

/** Why there is no connection, in words. */
export function sayUnreachable(cause: unknown): string {
  const { code = '', message = String(cause) } = (cause ?? {}) as {
    code?: string
    message?: string
  }
  return UNREACHABLE_REASONS[code] ?? `${code} ${message}`.trim()
}

/** Whether the connection broke before an answer, as a kept-alive one does when the server went away. */
export function isBrokenConnection(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
