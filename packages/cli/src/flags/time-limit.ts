import { TimedOutError } from 'kubecred/internal'
import { UsageError } from '../usage-error.ts'
import { parseDuration } from './duration.ts'
import type { FlagValues } from './flag-values.ts'

/** The maximum delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Returns a signal that also aborts when the time limit of a flag has passed.
 *
 * The timer does not keep the process alive.
 */
export function withTimeLimit(
  signal: AbortSignal,
  flags: FlagValues,
  name: 'timeout' | 'request-timeout',
): AbortSignal {
  const text = flags.text(name)
  if (text === undefined) return signal
  const limitMs = parseDuration(text)
  if (limitMs === undefined) {
    throw new UsageError(
      `flag --${name} takes seconds or a time such as 1m30s, not ${JSON.stringify(text)}`,
    )
  }
  if (limitMs === 0) return signal
  const what = name === 'timeout' ? 'the command' : 'the request'
  const limit = new AbortController()
  setTimeout(
    () => limit.abort(new TimedOutError(`${what} took longer than --${name}=${text} allows`)),
    Math.min(limitMs, MAX_TIMER_MS),
  ).unref()
  return AbortSignal.any([signal, limit.signal])
}
