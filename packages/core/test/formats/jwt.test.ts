import { describe, expect, it } from 'vitest'
import { jwtExpiry } from '../../src/formats/jwt.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (claims: unknown): string => `${encode({ alg: 'none' })}.${encode(claims)}.c2ln`

describe('the expiry of a JWT', () => {
  it.each([
    ['whole seconds', { exp: 1_800_000_000 }, 1_800_000_000_000],
    ['a fraction of a second', { exp: 1.5 }, 1500],
    ['claims with letters beyond ASCII', { exp: 2, name: 'Zoë ÿ >>>???' }, 2000],
  ])('is read from %s', (_, claims, expected) => {
    expect(jwtExpiry(token(claims))).toBe(expected)
  })

  it.each([
    ['no exp', token({ sub: 'jane' })],
    ['a string', token({ exp: '1800000000' })],
    ['an infinite number', `${encode({})}.${Buffer.from('{"exp":1e999}').toString('base64url')}.x`],
    ['a time that no calendar has', token({ exp: 1e300 })],
    ['such a time in the past', token({ exp: -1e300 })],
    ['a list', token([1])],
    ['null', token(null)],
    ['invalid JSON', 'a.bm8ganNvbg.c'],
    ['invalid base64', 'a.!!!.c'],
    ['two parts', `a.${encode({ exp: 1 })}`],
    ['four parts', `${token({ exp: 1 })}.d`],
    ['an empty string', ''],
  ])('is undefined for %s', (_, text) => {
    expect(jwtExpiry(text)).toBeUndefined()
  })
})
