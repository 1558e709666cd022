import { describeUnexpected } from 'kubecred/errors'
import { describe, expect, it } from 'vitest'
import { PluginExitedError } from '../../src/errors/index.ts'
import { isProgramError } from '../../src/errors/unexpected-error.ts'
import { Secret } from '../../src/secret/secret.ts'

describe('an unexpected error', () => {
  it('is described without known secrets, and without what looks like a secret', () => {
    const error = new TypeError('near abcdef-123456\nand Bearer 0123456789abcdef')
    const { message, stack } = describeUnexpected(error, [new Secret('abcdef-123456')])
    expect(message).toBe('TypeError: near [secret] and Bearer [secret]')
    expect(stack).toMatch(/^TypeError: near \[secret\]\nand Bearer \[secret\]\n {4}at .*test/)
  })

  it('has an id that depends only on the text that is shown', () => {
    const error = new Error('near first-secret')
    const copy = new Error('near other-secret')
    copy.stack = error.stack?.replace('first-secret', 'other-secret') ?? ''
    const secrets = [new Secret('first-secret'), new Secret('other-secret')]
    const [one, two] = [error, copy].map((each) => describeUnexpected(each, secrets).id)
    expect(one).toMatch(/^[0-9a-f]{8}$/)
    expect(two).toBe(one)
    expect(describeUnexpected(new Error('another')).id).not.toBe(one)
  })

  it.each([
    ['a string', 'token=abcdef123456', '"token=[secret]" was thrown'],
    ['an object', { token: 'abcdef123456' }, 'a value of type object was thrown'],
    ['undefined', undefined, 'a value of type undefined was thrown'],
    ['null', null, 'null was thrown'],
  ])('can be %s', (_, thrown, text) => {
    expect(describeUnexpected(thrown)).toMatchObject({ message: text, stack: text })
  })

  it('can have getters that throw', () => {
    const hostile = new Error('x')
    Object.defineProperty(hostile, 'stack', {
      get() {
        throw new Error('no')
      },
    })
    Object.defineProperty(hostile, 'message', {
      get() {
        throw new Error('no')
      },
    })
    expect(describeUnexpected(hostile).stack).toBe('an unreadable error')
  })

  it('is cut to its maximum length, also if it is its own cause', () => {
    const error = new Error('x'.repeat(1_000_000))
    error.cause = error
    const { message, stack } = describeUnexpected(error)
    expect(message.length).toBeLessThanOrEqual(500)
    expect(stack.length).toBeLessThanOrEqual(8_000)
  })

  it('contains no control characters', () => {
    expect(describeUnexpected(new Error('\u001b[2J')).stack).not.toContain('\u001b')
  })
})

it.each([
  [new TypeError('x is not a function'), true],
  [new RangeError('x'), true],
  [Object.assign(new TypeError('bad header'), { code: 'ERR_INVALID_CHAR' }), false],
  [Object.assign(new Error('reset'), { code: 'ECONNRESET' }), false],
  [new PluginExitedError('plugin', { exitStatus: 1, stderrTail: '' } as never), false],
  [undefined, false],
])('is recognized as a bug only if it has no code: %s', (error, expected) => {
  expect(isProgramError(error)).toBe(expected)
})
