import { expect, it } from 'vitest'
import { refusalOf } from '../../src/request/refusal.ts'

it('remembers a refusal as it came, whatever the caller does with its headers', () => {
  const headers: Record<string, string> = { 'www-authenticate': 'Bearer' }
  const refusal = refusalOf({ statusCode: 401, headers })
  delete headers['www-authenticate']
  expect(refusal).toEqual({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
})
