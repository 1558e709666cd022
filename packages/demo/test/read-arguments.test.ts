import { UsageError } from '@kubecred/cli/internal'
import { describe, expect, it } from 'vitest'
import { readArguments } from '../src/read-arguments.ts'

describe('the arguments of the demo', () => {
  it.each([
    [['--port', '65536'], 'flag --port takes a number from 0 to 65535, not "65536"'],
    [['--port=-1'], 'flag --port takes a number from 0 to 65535'],
    [['--port', '80a'], 'flag --port takes a number from 0 to 65535'],
    [['--duration', 'soon'], 'flag --duration takes seconds or a time such as 1m30s, not "soon"'],
    [['--speed', '0'], 'flag --speed takes a number from 1 to 10, not "0"'],
    [['--speed', '11'], 'flag --speed takes a number from 1 to 10'],
    [['--speed', 'fast'], 'flag --speed takes a number from 1 to 10'],
    [['now'], 'now'],
    [['--loud'], '--loud'],
  ])('are rejected: %j', (argv, message) => {
    expect(() => readArguments(argv)).toThrow(UsageError)
    expect(() => readArguments(argv)).toThrow(message)
  })

  it('have defaults', () => {
    expect(readArguments([])).toEqual({
      port: 0,
      mayOpen: true,
      durationMs: undefined,
      speed: 1,
      isHelp: false,
      isVersion: false,
    })
  })

  it('are read', () => {
    const argv = ['--port', '8002', '--no-open', '--duration', '1m30s', '--speed', '5']
    const expected = { port: 8002, mayOpen: false, durationMs: 90_000, speed: 5 }
    expect(readArguments(argv)).toMatchObject(expected)
  })

  it('may set no limit with --duration 0', () => {
    expect(readArguments(['--duration', '0'])).toMatchObject({ durationMs: undefined })
  })
})
