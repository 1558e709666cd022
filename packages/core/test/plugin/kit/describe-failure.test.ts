import { describe, expect, it } from 'vitest'
import { ExecInfoError } from '../../../src/errors/index.ts'
import { describeFailure, exitStatusOf } from '../../../src/plugin/kit/describe-failure.ts'

const quiet = (error: unknown): string => describeFailure(error, { debug: false })

describe('a failure is described', () => {
  const aggregate = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  const foreign = { name: 'OtherError', message: 'from another realm' }
  it.each([
    [new Error('log in first'), 'Error: log in first\n'],
    [new TypeError('x'), 'TypeError: x\n'],
    [new Error(''), 'Error: no reason given\n'],
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
    ['', 'Error: the plugin threw string instead of an error\n'],
    [undefined, 'Error: the plugin threw undefined instead of an error\n'],
    [null, 'Error: the plugin threw null instead of an error\n'],
    [{ token: 'hunter2' }, 'Error: the plugin threw an object instead of an error\n'],
    [foreign, 'OtherError: from another realm\n'],
    [new Error('two\nlines\n'), 'Error: two\nlines\n'],
  ])('in one line: %o', (thrown, description) => {
    expect(quiet(thrown)).toBe(description)
  })

  it('with its hint, and then without its causes', () => {
    const cause = new Error('deep')
    const error = new ExecInfoError('spec', 'is a number', { hint: 'Write an object.', cause })
    expect(quiet(error)).toBe(
      'ExecInfoError: spec in KUBERNETES_EXEC_INFO is a number\nWrite an object.\n',
    )
  })

  it('without secrets and terminal escape sequences', () => {
    const description = quiet(new Error('password=hunter2hunter2 \x1b[31mred'))
    expect(description).not.toContain('hunter2')
    expect(description).not.toContain('\x1b')
  })

  it('with stacks only in debug mode', () => {
    const error = new Error('top', { cause: new TypeError('below') })
    expect(quiet(error)).not.toContain('describe-failure.test')
    const description = describeFailure(error, { debug: true })
    expect(description).toMatch(/^Error: top: below\nError: top\n +at .*describe-failure\.test/)
    expect(description).toContain('caused by TypeError: below')
  })

  it('also if its causes form a cycle', () => {
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
