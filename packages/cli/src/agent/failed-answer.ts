import type { Secret } from 'kubecred'
import { CODES, describeUnexpected, isCredentialError } from 'kubecred/errors'
import { exhaustedError } from 'kubecred/internal'
import type { Failed } from './protocol.ts'

/** Exit status of an internal error, as in `EXIT.unexpected`. */
const UNEXPECTED = 70

/**
 * Encodes an error as a `failed` answer.
 *
 * An internal error includes its stack, because an agent in the background has nowhere to log it. Secrets are removed:
 * the given ones, and text that looks like one.
 */
export function failedAnswer(thrown: unknown, secrets: Iterable<Secret> = []): Failed {
  const error = exhaustedError(thrown) ?? thrown
  if (!isCredentialError(error)) {
    const { id, stack } = describeUnexpected(error, secrets)
    return {
      is: 'failed',
      code: 'ERR_UNEXPECTED',
      message: `internal error ${id}: ${stack}`,
      hint: 'Run kubecred agent stop and try again, or set KUBECRED_AGENT=off to disable the agent.',
      exit: UNEXPECTED,
    }
  }
  const { code, summary, hint, nextTryAt } = error
  const own = 'exitStatus' in error && typeof error.exitStatus === 'number' && error.exitStatus
  const tail = 'stderrTail' in error && typeof error.stderrTail === 'string' && error.stderrTail
  return {
    is: 'failed',
    code,
    message: summary,
    hint,
    // The exit status of the plugin passes through, as if the client had started it directly.
    exit: own || CODES[code].exit,
    ...(tail && { stderrTail: tail }),
    ...(nextTryAt !== undefined && Number.isFinite(nextTryAt) && { nextTryAt }),
  }
}
