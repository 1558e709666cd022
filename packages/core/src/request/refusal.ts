import { type Refusal, UNAUTHORIZED } from '../credential/credential.ts'
import { isBrokenConnection } from '../dial/network-errors.ts'
import { ServerUntrustedError } from '../errors/index.ts'
import { UNTRUSTED_REASONS } from '../errors/transport-errors.ts'
import { NoResponseError } from '../exchange/handler.ts'
import type { Lease } from '../keeper/lease.ts'
import { certificateAlert } from '../tls/alert.ts'
import { isProxied } from './request-target.ts'

/** The refusal of a credential that was not sent, because the server of its login cannot be trusted. */
const UNUSABLE: Refusal = { status: 0, headers: {} }

/**
 * Whether a response means that the server refused the credential. Only this function decides it.
 *
 * @param pathname The path of the request: responses from behind a proxy subresource do not count.
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

/** Returns the refusal that an error means, if the server refused the credential without a response. */
export function refusalWithoutResponse(
  error: unknown,
  { credential, endpoint }: Pick<Lease, 'credential' | 'endpoint'>,
): Refusal | undefined {
  if (certificateAlert(error) !== undefined) return credential.certificate && UNAUTHORIZED
  // The login's own CA does not verify its server, so the login is unusable; another one may work.
  return endpoint !== undefined && isAboutTrust(error) ? UNUSABLE : undefined
}

function isAboutTrust(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as { code?: string }
  return error instanceof ServerUntrustedError || UNTRUSTED_REASONS[code] !== undefined
}

/** Makes a refusal from a response. */
export function refusalOf({ statusCode, headers }: RefusingResponse): Refusal {
  // A copy, because it is kept longer than the response.
  return { status: statusCode, headers: { ...headers } }
}

interface RefusingResponse {
  readonly statusCode: number
  readonly headers: Refusal['headers']
}

/** More than any server that makes progress needs. */
const MAX_REPEATS = 100
/** How often a request is sent again to a busy server: first at once, then with a growing delay. */
const MAX_BUSY_REPEATS = 3
const BUSY_DELAY_MS = 25

/** A request without a response. */
interface Unanswered {
  readonly method: string
  /** How often the request was sent again with the same credential. */
  readonly repeats: number
  readonly canReplay: () => boolean
}

/**
 * Returns the delay before a request without a response is sent again; undefined if it must not be.
 *
 * A request that the server did not process can always be sent again. If that is not known, only safe methods (RFC 9110,
 * section 9.2.1) are: each time a connection turns out to be stale, and once after a connection broke.
 */
export function resendDelayMs(
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
      return repeats === 0 ? 0 : BUSY_DELAY_MS * 2 ** repeats
    case 'stale':
      return isSafe ? 0 : undefined
    default:
      return isSafe && repeats === 0 && isBrokenConnection(error) ? 0 : undefined
  }
}
