import { describe, expect, it } from 'vitest'
import { ExecInfoError } from '../../../src/errors/index.ts'
import { describeFailure, exitStatusOf } from '../../../src/plugin/kit/describe-failure.ts'

const quiet = (error: unknown): string => describeFailure(error, { debug: false })

describe('a failure is told in a line:', () => {
  const aggregate = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  const foreign = { name: 'OtherError', message: 'from another realm' }
  it.each([
    [new Error('log in first'), 'Error: log in first\n'],
    [new TypeError('x'), 'TypeError: x\n'],
    [new Error(''), 'Error: it did not say why\n'],
    [
      new TypeError('fetch failed', { cause: new Error('ECONN') }),
      'TypeError: fetch failed: ECONN\n',
    ],
    [
      new TypeError('fetch failed', { cause: aggregate }),
      'TypeError: fetch failed: ECONNREFUSED\n',
    ],
    [new Error('a: b', { cause: new Error('b') }), 'Error: a: b\n'],
    ['just text', 'Error: just text\n'],
    ['', 'Error: the plugin threw string in place of an error\n'],
    [undefined, 'Error: the plugin threw undefined in place of an error\n'],
    [null, 'Error: the plugin threw null in place of an error\n'],
    [{ token: 'hunter2' }, 'Error: the plugin threw an object in place of an error\n'],
    [foreign, 'OtherError: from another realm\n'],
    [new Error('two\nlines\n'), 'Error: two\nlines\n'],
  ])('%o', (thrown, told) => {
    expect(quiet(thrown)).toBe(told)
  })

  it('with the hint of those that have one, and without what is below', () => {
    const cause = new Error('deep')
    const error = new ExecInfoError('spec', 'is a number', { hint: 'Write an object.', cause })
    expect(quiet(error)).toBe(
      'ExecInfoError: spec in KUBERNETES_EXEC_INFO is a number\nWrite an object.\n',
    )
  })

  it('without what looks like a secret, or steers the terminal', () => {
    const told = quiet(new Error('password=hunter2hunter2 \x1b[31mred'))
    expect(told).not.toContain('hunter2')
    expect(told).not.toContain('\x1b')
  })

  it('with stacks only for those who debug', () => {
    const error = new Error('top', { cause: new TypeError('below') })
    expect(quiet(error)).not.toContain('describe-failure.test')
    const told = describeFailure(error, { debug: true })
    expect(told).toMatch(/^Error: top: below\nError: top\n +at .*describe-failure\.test/)
    expect(told).toContain('caused by TypeError: below')
  })

  it('even when causes go round in a circle', () => {
    const error = new Error('round')
    error.cause = error
    expect(quiet(error)).toBe('Error: round\n')
  })
})

it.each([
  [{ exitStatus: 1 }, 1],
  [{ exitStatus: 3 }, 3],
  [{ exitStatus: 125 }, 125],
  [{ exitStatus: 0 }, 1],
  [{ exitStatus: 126 }, 1],
  [{ exitStatus: -1 }, 1],
  [{ exitStatus: 2.5 }, 1],
  [{ exitStatus: '3' }, 1],
  [new Error('x'), 1],
  [undefined, 1],
])('the exit status of %o is %i', (thrown, status) => {
  expect(exitStatusOf(thrown)).toBe(status)
})
