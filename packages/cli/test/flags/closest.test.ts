import { describe, expect, it } from 'vitest'
import { closest, didYouMean } from '../../src/flags/closest.ts'

const NAMES = ['fetch', 'whoami', 'token', 'explain', 'version', 'help']

describe('the closest name', () => {
  it.each([
    ['fecth', 'fetch'],
    ['whoam', 'whoami'],
    ['who', 'whoami'],
    ['tokne', 'token'],
    ['FETCH', 'fetch'],
    ['x', undefined],
    ['deploy', undefined],
    ['', undefined],
  ])('of %j is %j', (typed, expected) => {
    expect(closest(typed, NAMES)).toBe(expected)
  })

  it('becomes a question behind a message, or nothing', () => {
    expect(didYouMean('fecth', NAMES)).toBe('; did you mean fetch?')
    expect(didYouMean('deploy', NAMES)).toBe('')
  })
})
