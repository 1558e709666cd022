import type { Secret } from 'kubecred'
import { CODES, describeUnexpected, isCredentialError } from 'kubecred/errors'
import { exhaustedError } from 'kubecred/internal'
import type { Failed } from './protocol.ts'

/** Exit status for an error that should not happen, as the program has it too. */
const UNEXPECTED = 70

/**
 * An error for the wire.
 *
 * One that is not ours goes with its stack, because an agent in the background has no other place to write it. Secrets
 * are taken out: those that are given, and what looks like one.
 */
export function describeFailed(thrown: unknown, secrets: Iterable<Secret> = []): Failed {
  const error = exhaustedError(thrown) ?? thrown
  if (!isCredentialError(error)) {
    const { id, stack } = describeUnexpected(error, secrets)
    return {
      is: 'failed',
      code: 'ERR_UNEXPECTED',
      message: `internal error ${id}: ${stack}`,
      hint: 'Run kubecred agent stop and try again, or set KUBECRED_AGENT=off to do without the agent.',
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
    // A plugin's own status passes through, as if nobody stood in between.
    exit: own || CODES[code].exit,
    ...(tail && { stderrTail: tail }),
    ...(nextTryAt !== undefined && Number.isFinite(nextTryAt) && { nextTryAt }),
  }
}
