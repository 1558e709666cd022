import { isBrokenConnection } from '../dial/network-errors.ts'
import { NoResponseError } from '../exchange/no-response-error.ts'

/** More often than any server that makes progress needs; a bound all the same. */
const MAX_REPEATS = 100
/** How often a request is sent again to a server that is busy, the second time after a pause. */
const MAX_BUSY_REPEATS = 3
const FIRST_PAUSE_MS = 25

/** A request without a response. */
export interface Unanswered {
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
