import { it } from 'vitest'
import { expect } from '../runtimes/expect.ts'

// The matchers of the tests that Node, Bun and Deno run are our own. Each must also be able to fail.

const FAILING: Readonly<Record<string, () => unknown>> = {
  toBe: () => expect({}).toBe({}),
  'not.toBe': () => expect(1).not.toBe(1),
  toBeUndefined: () => expect(null).toBeUndefined(),
  toBeGreaterThan: () => expect(1).toBeGreaterThan(1),
  toBeLessThanOrEqual: () => expect(2).toBeLessThanOrEqual(1),
  toBeInstanceOf: () => expect({}).toBeInstanceOf(Set),
  'toContain of an array': () => expect([1]).toContain(2),
  'toContain of a string': () => expect('a').toContain('b'),
  toContainEqual: () => expect([{ a: 1 }]).toContainEqual({ a: 2 }),
  'toEqual, another value': () => expect({ a: [1] }).toEqual({ a: [2] }),
  'toEqual, one more': () => expect({ a: 1, b: 2 }).toEqual({ a: 1 }),
  'toEqual, a longer array': () => expect([1, 2]).toEqual([1]),
  'toEqual, an array and an object': () => expect([]).toEqual({}),
  'toEqual, other sets': () => expect(new Set([1])).toEqual(new Set([2])),
  'toEqual, other dates': () => expect(new Date(1)).toEqual(new Date(2)),
  'toEqual with a pattern': () => expect(['a']).toEqual([expect.stringMatching(/b/)]),
  'toEqual with another pattern': () => expect([1]).toEqual(expect.arrayContaining([2])),
  'not.toEqual': () => expect({ a: 1 }).not.toEqual({ a: 1, b: undefined }),
  toHaveLength: () => expect([1]).toHaveLength(2),
  toMatch: () => expect('a').toMatch(/b/),
  'not.toMatch': () => expect('a').not.toMatch(/a/),
  'toMatchObject, another value': () => expect({ a: 1 }).toMatchObject({ a: 2 }),
  'toMatchObject, one missing': () => expect({ a: 1 }).toMatchObject({ b: 2 }),
  'toMatchObject, a longer array': () => expect([{}, {}]).toMatchObject([{}]),
  'rejects.toThrow': () => expect(Promise.resolve(1)).rejects.toThrow(),
  'resolves.toBeUndefined': () => expect(Promise.resolve(1)).resolves.toBeUndefined(),
}

for (const [name, check] of Object.entries(FAILING)) {
  it(`${name} fails if it does not hold`, async () => {
    const failure = await Promise.resolve()
      .then(check)
      .catch((error: { code: string }) => error.code)
    expect(failure).toBe('ERR_ASSERTION')
  })
}

it('matchers pass if they hold', async () => {
  expect({ a: [1, { b: 2 }], c: undefined }).toEqual({ a: [1, { b: 2 }] })
  expect([{ a: 1, b: [2] }]).toMatchObject([{ b: [2] }])
  expect(new Set([1, 2])).toEqual(new Set([1, 2]))
  expect({ a: ['one', 'two'] }).toMatchObject({ a: expect.arrayContaining(['two']) })
  expect([['x']]).toContainEqual([expect.stringMatching(/x/)])
  await expect(Promise.reject(new Error('no'))).rejects.toThrow()
})
