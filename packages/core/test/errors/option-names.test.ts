import { expect, it } from 'vitest'
import { closestName } from '../../src/errors/option-names.ts'

const NAMES = ['fetch', 'whoami', 'token', 'explain', 'version', 'help', 'certificate-authority']

it.each([
  ['fecth', 'fetch'],
  ['whoam', 'whoami'],
  ['who', 'whoami'],
  ['tokne', 'token'],
  ['FETCH', 'fetch'],
  ['certifcate-autority', 'certificate-authority'],
  ['cerificat-autority', undefined],
  ['x', undefined],
  ['deploy', undefined],
  ['', undefined],
])('the closest name to %j is %j', (typed, expected) => {
  expect(closestName(typed, NAMES)).toBe(expected)
})
