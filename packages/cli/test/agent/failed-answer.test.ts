import { expect, it } from 'vitest'
import { Secret } from '../../../core/src/secret/secret.ts'
import { failedAnswer } from '../../src/agent/failed-answer.ts'

it('an unexpected error of the agent is sent to the client with its id and stack, without secrets', () => {
  const error = new TypeError('x is not a function, near abcdef-123456')
  const failed = failedAnswer(error, [new Secret('abcdef-123456')])
  expect(failed).toMatchObject({ is: 'failed', code: 'ERR_UNEXPECTED', exit: 70 })
  expect(failed.message).toMatch(
    /^internal error [0-9a-f]{8}: TypeError: x is not a function, near \[secret\]\n {4}at .*failed-answer/,
  )
})
