import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/flags/parse-command-line.ts'

const parse = (...argv: string[]) => parseCommandLine(argv, ['fetch', 'whoami'])

describe('a command line', () => {
  it('can have flags before and after the command', () => {
    const { command, args, flags } = parse(
      '-n',
      'dev',
      'fetch',
      '--context=prod',
      '/x',
      '-X',
      'PUT',
    )
    expect(command).toBe('fetch')
    expect(args).toEqual(['/x'])
    expect(
      ['namespace', 'context', 'request'].map((name) => flags.text(name as 'context')),
    ).toEqual(['dev', 'prod', 'PUT'])
  })

  it('has no flags after --', () => {
    const { args, flags } = parse('fetch', '--', '--context', '-v')
    expect(args).toEqual(['--context', '-v'])
    expect(flags.names).toEqual([])
  })

  it.each([
    [['-v'], 1],
    [['-vv'], 2],
    [['-v', '-v', '-v'], 3],
    [['-v=2'], 2],
    [['--v=4'], 4],
    [['--v'], 1],
    [['-v=0'], 0],
    [[], 0],
  ])('with %j has verbosity %i', (argv, level) => {
    expect(parse('fetch', ...argv).flags.verbosity).toBe(level)
  })

  it('keeps repeated values in order, and the last value of other flags', () => {
    const { flags } = parse('fetch', '--as-group', 'a', '--as-group=b', '--as=x', '--as=y')
    expect(flags.list('as-group')).toEqual(['a', 'b'])
    expect(flags.text('as')).toBe('y')
  })

  it('distinguishes a boolean flag that is false from one that was not given', () => {
    expect(parse('--insecure-skip-tls-verify=false').flags.isOn('insecure-skip-tls-verify')).toBe(
      false,
    )
    expect(parse('--insecure-skip-tls-verify').flags.isOn('insecure-skip-tls-verify')).toBe(true)
    expect(parse().flags.isOn('insecure-skip-tls-verify')).toBeUndefined()
  })

  it('accepts -n=dev as kubectl does, and -d=x as curl does', () => {
    const { flags } = parse('fetch', '-n=dev', '-d=x')
    expect(flags.text('namespace')).toBe('dev')
    expect(flags.text('data')).toBe('=x')
  })

  it('accepts a negative number as a value', () => {
    expect(parse('fetch', '-d', '-5').flags.text('data')).toBe('-5')
  })

  it.each([
    [['fetch', '--kubeconfg', 'x'], 'unknown flag --kubeconfg'],
    [['fetch', '-Z'], 'unknown flag -Z'],
    [['fetch', '--token'], 'flag --token needs a value'],
    [['fetch', '-n'], 'flag -n needs a value'],
    [['fetch', '--token', '--context', 'x'], 'flag --token needs a value; if "--context" is meant'],
    [['fetch', '-v=loud'], 'flag -v takes a number'],
    [['fetch', '--raw=maybe'], 'flag --raw is true or false, not "maybe"'],
    [['fetch', '--toString'], 'unknown flag --toString'],
  ])('%j is rejected with a message', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message)
  })
})
