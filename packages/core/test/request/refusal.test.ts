import { expect, it } from 'vitest'
import { refusalOf } from '../../src/request/refusal.ts'

it('a refusal keeps its headers when the caller changes those of the response', () => {
  const headers: Record<string, string> = { 'www-authenticate': 'Bearer' }
  const refusal = refusalOf({ statusCode: 401, headers })
  delete headers['www-authenticate']
  expect(refusal).toEqual({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
})
