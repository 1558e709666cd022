import { ClosedError, isCredentialError } from '../errors/index.ts'
import type { Verdict } from '../lifecycle/verdict.ts'
import type { Kept, Lease } from './lease.ts'

/** What a verdict means for who asked: a lease, an error, or undefined when there is a run to wait for. */
export function readVerdict(answer: Verdict<Kept>): Lease | undefined {
  switch (answer.is) {
    case 'use':
      return answer.held.credential
    case 'closed':
      throw new ClosedError()
    case 'fail':
      throw withNextTry(answer.error, answer.nextTryAt)
    case 'wait':
      return undefined
  }
}

/** The error everybody gets while a back-off runs says when the next try will be. */
export function withNextTry(error: unknown, nextTryAt: number): unknown {
  if (isCredentialError(error)) error.nextTryAt = nextTryAt
  return error
}
