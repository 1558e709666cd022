import { CODES, isCredentialError } from '../errors/index.ts'
import type { Failed } from './wire.ts'

/** Something nobody foresaw, as the program has it too. */
const UNEXPECTED = 70

/** An error for the wire. What is not ours is told without its words: nobody knows what they quote. */
export function describeFailed(error: unknown): Failed {
  if (!isCredentialError(error)) {
    return {
      is: 'failed',
      code: 'ERR_UNEXPECTED',
      message: 'the agent met an unexpected problem',
      hint: 'Stop it with kubecred agent stop, and try again.',
      exit: UNEXPECTED,
    }
  }
  const { code, message, hint, nextTryAt } = error
  const own = 'exitStatus' in error && typeof error.exitStatus === 'number' && error.exitStatus
  const tail = 'stderrTail' in error && typeof error.stderrTail === 'string' && error.stderrTail
  return {
    is: 'failed',
    code,
    message,
    hint,
    // A plugin's own status passes through, as if nobody stood in between.
    exit: own || CODES[code].exit,
    ...(tail && { stderrTail: tail }),
    ...(nextTryAt !== undefined && Number.isFinite(nextTryAt) && { nextTryAt }),
  }
}
