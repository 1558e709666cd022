import { expect, it } from 'vitest'
import { parseDuration } from '../../src/flags/duration.ts'

it.each([
  ['0', 0],
  ['30', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['250ms', 250],
  ['0s', 0],
  ['', undefined],
  ['1', 1000],
  ['-1', undefined],
  ['-1s', undefined],
  ['1 s', undefined],
  ['1m30', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['s', undefined],
])('%j is %j milliseconds', (text, expected) => {
  expect(parseDuration(text)).toBe(expected)
})
