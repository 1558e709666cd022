import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'

/** A value that stands for many, such as `expect.arrayContaining([1])`. */
class Pattern {
  readonly matches: (actual: unknown) => boolean
  readonly #text: string

  constructor(text: string, matches: (actual: unknown) => boolean) {
    this.#text = text
    this.matches = matches
  }

  [inspect.custom](): string {
    return this.#text
  }
}

/** The matchers of vitest that the shared tests use. */
export function expect(actual: unknown, message?: string): Matchers & Modifiers {
  return {
    ...matchers(actual, true, message),
    not: matchers(actual, false, message),
    get rejects() {
      return later(caught(actual), message)
    },
    get resolves() {
      return later(Promise.resolve(actual), message)
    },
  }
}

expect.arrayContaining = (values: readonly unknown[]): Pattern =>
  new Pattern(
    `an array with ${inspect(values)}`,
    (actual) => Array.isArray(actual) && values.every((each) => actual.some(isLike(each))),
  )
expect.stringMatching = (pattern: RegExp): Pattern =>
  new Pattern(`a string like ${pattern}`, (actual) => pattern.test(String(actual)))

type Matchers = ReturnType<typeof matchers>

interface Modifiers {
  readonly not: Matchers
  readonly rejects: Later
  readonly resolves: Later
}

type Later = Readonly<Record<'toThrow' | 'toBeUndefined', () => Promise<void>>>

function matchers(actual: unknown, shouldHold: boolean, message: string | undefined) {
  const check = (holds: boolean, what: string, expected?: unknown): void => {
    if (holds === shouldHold) return
    const not = shouldHold ? '' : 'not '
    const shown = expected === undefined ? '' : ` ${inspect(expected, { depth: 6 })}`
    assert.fail(`${message ?? ''} expected ${not}${what}${shown}, got ${inspect(actual)}`)
  }
  const list = actual as readonly unknown[]
  return {
    toBe: (expected: unknown) => check(Object.is(actual, expected), 'to be', expected),
    toBeUndefined: () => check(actual === undefined, 'to be undefined'),
    toBeGreaterThan: (limit: number) => check(Number(actual) > limit, 'more than', limit),
    toBeLessThanOrEqual: (limit: number) => check(Number(actual) <= limit, 'at most', limit),
    toBeInstanceOf: (kind: new (...args: never[]) => unknown) =>
      check(actual instanceof kind, 'an instance of', kind),
    toContain: (part: unknown) =>
      check((actual as readonly unknown[] | string).includes(part as string), 'to contain', part),
    toContainEqual: (part: unknown) => check(list.some(isLike(part)), 'to contain', part),
    toEqual: (expected: unknown) => check(isEqual(actual, expected), 'to equal', expected),
    toHaveLength: (length: number) => check(list.length === length, 'of length', length),
    toMatch: (pattern: RegExp) => check(pattern.test(String(actual)), 'to match', pattern),
    toMatchObject: (expected: unknown) =>
      check(isEqual(actual, expected, 'in part'), 'to match', expected),
    toThrow: () => check(actual instanceof Error, 'an error'),
  }
}

function later(value: Promise<unknown>, message: string | undefined): Later {
  const use = async (name: keyof Later): Promise<void> =>
    matchers(await value, true, message)[name]()
  return { toThrow: () => use('toThrow'), toBeUndefined: () => use('toBeUndefined') }
}

async function caught(value: unknown): Promise<unknown> {
  return Promise.resolve(value).then(
    () => undefined,
    (error: unknown) => error,
  )
}

function isLike(expected: unknown): (actual: unknown) => boolean {
  return (actual) => isEqual(actual, expected)
}

/** Whether two values are equal as in vitest: a property that is undefined counts as missing. */
function isEqual(actual: unknown, expected: unknown, how?: 'in part'): boolean {
  if (expected instanceof Pattern) return expected.matches(actual)
  if (Object.is(actual, expected)) return true
  if (!isObject(actual) || !isObject(expected)) return false
  if (Array.isArray(actual) !== Array.isArray(expected)) return false
  if (Array.isArray(actual) && actual.length !== (expected as unknown as unknown[]).length) {
    return false
  }
  if (!isPlain(expected)) return isDeepStrictEqual(actual, expected)
  const names = how === 'in part' ? Object.keys(expected) : Object.keys({ ...actual, ...expected })
  return names.every((name) => isEqual(actual[name], expected[name], how))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isPlain(value: object): boolean {
  return [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value))
}
