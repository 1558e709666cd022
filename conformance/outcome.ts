import { expect } from 'vitest'
import { isCredentialError } from '../packages/core/src/errors/index.ts'

/** An expected failure: its code, and what its message and hint must contain. */
export interface ExpectedError {
  readonly error: string
  readonly says?: string
  readonly hints?: string
}

/** Runs something that may fail with an error of ours; rethrows any other error, which is a bug. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (!isCredentialError(error)) throw error
    return new Failure(error.code, error.message, error.hint)
  }
}

export class Failure {
  readonly code: string
  readonly message: string
  readonly hint: string

  constructor(code: string, message: string, hint: string) {
    this.code = code
    this.message = message
    this.hint = hint
  }
}

export function expectFailure(outcome: unknown, expected: ExpectedError): void {
  expect(outcome).toMatchObject({ code: expected.error })
  const { message, hint } = outcome as Failure
  if (expected.says !== undefined) expect(message).toContain(expected.says)
  if (expected.hints !== undefined) expect(hint).toContain(expected.hints)
}
