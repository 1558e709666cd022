import { isCredentialError, LoginError, type LoginOutcome } from '../errors/index.ts'
import type { Keeper } from './keeper.ts'
import type { HandlerFacts } from './vault-status.ts'

/** How the last login of a handler ended, for people who wonder why nobody is logged in. */
export function outcomeOf(
  keeper: Pick<Keeper, 'label' | 'status' | 'lastError'>,
  { notes, excludedUntil }: HandlerFacts,
): LoginOutcome {
  const handler = keeper.label.name
  const attempts = Math.max(1, notes.attempts)
  const failed = lastFailure(keeper.lastError)
  const { retry } = notes
  if (excludedUntil !== undefined) {
    // There may have been a login since, which could not give anything better.
    const again = failed?.result === 'nothing' ? 'it returned nothing' : undefined
    const reason = retry?.reason ?? failed?.reason ?? again
    return { handler, result: 'refused', attempts, nextTryAt: excludedUntil, ...because(reason) }
  }
  const { state, nextTryAt } = keeper.status()
  if (state === 'ready') return { handler, result: 'credential', attempts }
  if (retry !== undefined) return { handler, result: 'running', attempts, ...retry }
  if (failed !== undefined) {
    const { result = 'failed', reason } = failed
    const next = nextTryAt === undefined ? {} : { nextTryAt }
    return { handler, result, attempts: failed.attempts ?? attempts, ...because(reason), ...next }
  }
  return { handler, result: state === 'running' ? 'running' : 'failed', attempts }
}

/** A login's own words, or those of what it led to: a file, a plugin. */
function lastFailure(error: unknown): Partial<LoginOutcome> | undefined {
  if (error instanceof LoginError && error.outcomes[0] !== undefined) return error.outcomes[0]
  return isCredentialError(error) ? { reason: error.message } : undefined
}

function because(reason: string | undefined): Pick<LoginOutcome, 'reason'> {
  return reason === undefined ? {} : { reason }
}
