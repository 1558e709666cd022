import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nestingDepth } from '../../src/formats/yaml.ts'

describe('nestingDepth', () => {
  it.each([
    ['', 0],
    ['a: 1', 1],
    ['a:\n  b:\n    c: 1', 3],
    ['a:\n  b: 1\nc: 1', 2],
    ['[[[]]]', 4],
    ['- - - x', 4],
    ['{"a":{"b":[1]}}', 4],
  ])('of %j is %i', (text, depth) => {
    expect(nestingDepth(text)).toBe(depth)
  })

  it('is never too low if no string contains a bracket', () => {
    const value = fc.jsonValue({ maxDepth: 8 }).filter((each) => !hidesBracket(each))
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (each, indent) => {
        const text = JSON.stringify(each, null, indent)
        expect(nestingDepth(text)).toBeGreaterThanOrEqual(depthOf(each))
      }),
    )
  })
})

function hidesBracket(value: unknown): boolean {
  if (typeof value === 'string') return /[\]}]/.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, each]) => hidesBracket(key) || hidesBracket(each))
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
