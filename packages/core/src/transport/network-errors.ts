import {
  CertificateRefusedError,
  type CredentialError,
  type ErrorInit,
  ServerUnreachableError,
  ServerUntrustedError,
} from '../errors/index.ts'

/** TLS alerts that say: your certificate, not your request. */
const REFUSALS =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

/** The alert by which a server refused our certificate, or undefined. */
export function readAlert(error: unknown): string | undefined {
  const { code = '' } = (error ?? {}) as { code?: string }
  return REFUSALS.exec(code)?.[0].slice('ALERT_'.length).toLowerCase().replaceAll('_', ' ')
}

const UNTRUSTED: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed and not in certificate-authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not in certificate-authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet; check the clock of this machine',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong: another CA of the same name issued it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'name resolution does not work at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the server closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
  EPROTO: 'the TLS handshake failed',
}

/** Says what went wrong on the way to the server: whose fault, and why. */
export function explainNetworkError(
  cause: unknown,
  server: string,
  { hint }: Pick<ErrorInit, 'hint'> = {},
): CredentialError {
  const { code = '' } = (cause ?? {}) as { code?: string }
  const alert = readAlert(cause)
  if (alert !== undefined) return new CertificateRefusedError(server, alert, { cause })
  const untrusted = UNTRUSTED[code]
  if (untrusted !== undefined) return new ServerUntrustedError(server, untrusted, { hint, cause })
  return new ServerUnreachableError(server, sayUnreachable(cause), { hint, cause })
}

/** Why there is no connection, in words. */
export function sayUnreachable(cause: unknown): string {
  const { code = '', message = String(cause) } = (cause ?? {}) as {
    code?: string
    message?: string
  }
  return UNREACHABLE[code] ?? `${code} ${message}`.trim()
}

/** Whether the connection broke before an answer, as a kept-alive one does when the server went away. */
export function isBrokenConnection(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
