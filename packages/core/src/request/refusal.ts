import { UNTRUSTED } from '../errors/connection-reasons.ts'
import { ServerUntrustedError } from '../errors/index.ts'
import { type Refusal, UNAUTHORIZED } from '../protocol/refusal.ts'
import { readAlert } from '../tls/read-alert.ts'
import type { Lease } from '../vault/lease.ts'
import { isProxied } from './request-target.ts'

/** The credential was not even sent: its login names a server that cannot be trusted. */
const UNUSABLE: Refusal = { status: 0, headers: {} }

/**
 * Whether a response means that the server did not accept the credential: the only place that decides it.
 *
 * @param pathname Of the request: what is behind a proxy subresource says nothing about our credential.
 * @param refreshOn The statuses that mean a refusal.
 */
export function isRefused(
  status: number,
  pathname: string,
  { authorization, credential }: Pick<Lease, 'authorization' | 'credential'>,
  refreshOn: readonly number[],
): boolean {
  if (!refreshOn.includes(status)) return false
  const isAnonymous = authorization === undefined && credential.certificate === undefined
  return !isAnonymous && !isProxied(pathname)
}

/** The refusal behind an error, if the server refused the credential without a response. */
export function unansweredRefusal(
  error: unknown,
  { credential, endpoint }: Pick<Lease, 'credential' | 'endpoint'>,
): Refusal | undefined {
  if (readAlert(error) !== undefined) return credential.certificate && UNAUTHORIZED
  // A login that names a server we cannot trust with its CA is no use; another login may do better.
  return endpoint !== undefined && isAboutTrust(error) ? UNUSABLE : undefined
}

function isAboutTrust(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return error instanceof ServerUntrustedError || UNTRUSTED[code] !== undefined
}

/** The refusal that a response is. */
export function refusalOf({ statusCode, headers }: RefusingResponse): Refusal {
  // A copy: it is kept for longer than the response.
  return { status: statusCode, headers: { ...headers } }
}

interface RefusingResponse {
  readonly statusCode: number
  readonly headers: Refusal['headers']
}
