import { type Refusal, UNAUTHORIZED } from '../credential/refusal.ts'
import { isBrokenConnection } from '../dial/network-errors.ts'
import { ServerUntrustedError } from '../errors/index.ts'
import { UNTRUSTED_REASONS } from '../errors/transport-errors.ts'
import { NoResponseError } from '../exchange/handler.ts'
import type { Lease } from '../keeper/lease.ts'
import { certificateAlert } from '../tls/alert.ts'
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
  if (certificateAlert(error) !== undefined) return credential.certificate && UNAUTHORIZED
  // A login that names a server we cannot trust with its CA is no use; another login may do better.
  return endpoint !== undefined && isAboutTrust(error) ? UNUSABLE : undefined
}

function isAboutTrust(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return error instanceof ServerUntrustedError || UNTRUSTED_REASONS[code] !== undefined
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

/** More often than any server that makes progress needs; a bound all the same. */
const MAX_REPEATS = 100
/** How often a request is sent again to a server that is busy, the second time after a pause. */
const MAX_BUSY_REPEATS = 3
const FIRST_PAUSE_MS = 25

/** A request without a response. */
interface Unanswered {
  readonly method: string
  /** How often it was sent again with the same credential. */
  readonly repeats: number
  readonly canReplay: () => boolean
}

/**
 * In how many milliseconds a request without a response is sent again; undefined when it must not be.
 *
 * What the server did not look at can always go again. If that is not known, only what changes nothing on the server:
 * as often as a connection turns out to be stale, and once where a connection broke.
 */
export function resendAfter(
  error: unknown,
  { method, repeats, canReplay }: Unanswered,
): number | undefined {
  if (!canReplay() || repeats >= MAX_REPEATS) return undefined
  const isSafe = method === 'GET' || method === 'HEAD'
  switch (error instanceof NoResponseError ? error.reason : undefined) {
    case 'unprocessed':
      return 0
    case 'busy':
      if (repeats >= MAX_BUSY_REPEATS) return undefined
      return repeats === 0 ? 0 : FIRST_PAUSE_MS * 2 ** repeats
    case 'stale':
      return isSafe ? 0 : undefined
    default:
      return isSafe && repeats === 0 && isBrokenConnection(error) ? 0 : undefined
  }
}
