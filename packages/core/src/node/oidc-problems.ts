import { UNREACHABLE, UNTRUSTED } from '../errors/connection-reasons.ts'
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

const TOO_LARGE = { EFBIG: 'it sent more than 1 MiB' }

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
  const reason =
    { ...UNREACHABLE, ...TOO_LARGE }[code] ?? `the connection failed (${code || 'no reason given'})`
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
