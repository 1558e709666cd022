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

/** Converts an error of a connection to the server into a `CredentialError`. */
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
  return new ServerUnreachableError(server, describeUnreachable(cause), { hint, cause })
}

/** Describes why a connection failed. */
export function describeUnreachable(cause: unknown): string {
  const { code = '', message = String(cause) } = (cause ?? {}) as {
    code?: string
    message?: string
  }
  return UNREACHABLE_REASONS[code] ?? `${code} ${message}`.trim()
}

/** Whether the connection was lost before a response, as when a server closes an idle keep-alive connection. */
export function isBrokenConnection(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
