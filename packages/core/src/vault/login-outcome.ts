import { isCredentialError, LoginError, type LoginOutcome } from '../errors/index.ts'
import type { Keeper } from './keeper.ts'

/** How the last login of a handler ended, for people who wonder why nobody is logged in. */
export function outcomeOf(keeper: Keeper, isRefused: boolean): LoginOutcome {
  const handler = keeper.label.name
  if (isRefused) return { handler, result: 'refused', attempts: 1 }
  const { state } = keeper.status()
  if (state === 'ready') return { handler, result: 'credential', attempts: 1 }
  const { lastError } = keeper
  if (lastError instanceof LoginError && lastError.outcomes[0] !== undefined) {
    return lastError.outcomes[0]
  }
  if (state === 'running') return { handler, result: 'running', attempts: 1 }
  const reason = isCredentialError(lastError) ? lastError.message : undefined
  return { handler, result: 'failed', attempts: 1, ...(reason !== undefined && { reason }) }
}
