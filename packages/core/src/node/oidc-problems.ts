import {
  type CredentialError,
  isCredentialError,
  OidcConfigError,
  OidcRefusedError,
  OidcUnreachableError,
} from '../errors/index.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { describeEntry } from '../kubeconfig/quote-name.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'

const UNTRUSTED: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not among those to trust',
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
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'name resolution does not work at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
  EPROTO: 'the TLS handshake failed',
  EFBIG: 'it sent more than 1 MiB',
}

/** The error for a connection to the issuer that was not made, or broke. */
export function explainConnection(cause: unknown, config: OidcConfig): CredentialError {
  if (isCredentialError(cause)) return cause
  const { code = '' } = Object(cause) as { code?: string }
  const untrusted = UNTRUSTED[code]
  if (untrusted !== undefined) {
    return configError(config, `the certificate of the issuer was not accepted: ${untrusted}`, {
      hint: 'Set idp-certificate-authority to the CA of the issuer, or correct it.',
      cause,
    })
  }
  const reason = UNREACHABLE[code] ?? `the connection failed (${code || 'no reason given'})`
  return new OidcUnreachableError(config.issuer, reason, { cause })
}

/** The error for something in the entry, or in the issuer it names, that trying again cannot change. */
export function configError(
  { entry, issuer }: OidcConfig,
  what: string,
  init: { readonly hint: string; readonly cause?: unknown },
): OidcConfigError {
  const who = describeEntry('user', { name: entry.user, file: entry.file })
  return new OidcConfigError(`${who} logs in at ${issuer}: ${what}`, init)
}

/** Whether the issuer has a problem of its own that will pass. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408
}

const HINTS: Readonly<Record<string, string>> = {
  invalid_client: 'Check client-id and client-secret in the kubeconfig.',
  unauthorized_client: 'Check client-id in the kubeconfig: the issuer does not let it refresh.',
}

/** The error for a refresh that the issuer answered with a status other than 200. */
export function explainRefusal(
  { issuer, clientSecret }: OidcConfig,
  { status, body, refreshToken }: { status: number; body: unknown; refreshToken: Secret },
): CredentialError {
  const { error, error_description: description } = Object(body) as Record<string, unknown>
  const known = clientSecret === undefined ? [refreshToken] : [refreshToken, clientSecret]
  const reason = typeof error === 'string' ? showText(error, known) : undefined
  const more = typeof description === 'string' ? ` (${showText(description, known)})` : ''
  if (isPassing(status) || reason === 'temporarily_unavailable' || reason === 'slow_down') {
    return new OidcUnreachableError(issuer, `it answered ${status}${more}`)
  }
  const said = reason ?? `status ${status}`
  const what = said === 'invalid_grant' ? 'rejected the refresh token' : 'refused the refresh'
  return new OidcRefusedError(issuer, `${what}: ${said}${more}`, {
    hint: HINTS[said] ?? 'Log in again, so that the kubeconfig gets a new refresh token.',
    ...(reason !== undefined && { reason }),
  })
}

const LONGEST_SHOWN = 300

/** Text from the network, for people: without what we sent, on one line, not endless. */
export function showText(text: string, known: readonly Secret[]): string {
  const line = scrub(text, known).replace(/\s+/g, ' ').trim()
  return showControlCharacters(line.slice(0, LONGEST_SHOWN))
}
