import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  batchArguments,
  isBatchFile,
  upperCaseNames,
  windowsFileNames,
} from '../../src/node/windows-programs.ts'

const PLUGIN = 'C:\\my plugins\\a & b.cmd'

/** Returns the line that cmd.exe runs: it removes the outer quotes. */
function lineOf(path: string, ...args: string[]): string {
  return batchArguments(path, args).at(-1)?.slice(1, -1) ?? ''
}

describe('a batch file is run by cmd.exe', () => {
  it('without AutoRun commands and delayed expansion', () => {
    expect(batchArguments('C:\\p.cmd', ['get', 'token'])).toEqual([
      '/d',
      '/v:off',
      '/s',
      '/c',
      '""C:\\p.cmd" get token"',
    ])
  })

  it.each([
    ['get-token', 'get-token'],
    ['--server-id', '--server-id'],
    ['https://host:1/a@b', 'https://host:1/a@b'],
    ['C:\\folder\\file', 'C:\\folder\\file'],
    ['', '""'],
    ['a b', '"a b"'],
    ['& calc', '"& calc"'],
    ['|<>()^&;,=', '"|<>()^&;,="'],
    ['*.?', '"*.?"'],
    ['--a=b', '"--a=b"'],
    ["'", '"\'"'],
    ['grüße 漢字 🔑', '"grüße 漢字 🔑"'],
    ['C:\\folder\\', '"C:\\folder\\\\"'],
    ['a \\\\', '"a \\\\\\\\"'],
  ])('with the argument %j as %s', (arg, quoted) => {
    expect(lineOf(PLUGIN, 'first', arg)).toBe(`"${PLUGIN}" first ${quoted}`)
  })

  it.each([
    ['%PATH%', '%'],
    ['100%', '%'],
    ['a"b', '"'],
    ['!PATH!', '!'],
    ['a\nb', 'a control character'],
    ['a\rb', 'a control character'],
    ['a\0b', 'a control character'],
    ['\x1a', 'a control character'],
  ])('not with the argument %j', (arg, what) => {
    const message = `argument 2 contains ${what}, which cannot be passed to a batch file safely`
    expect(() => lineOf(PLUGIN, 'first', arg)).toThrow(
      expect.objectContaining({ code: 'ERR_UNSAFE_ARGUMENT', message }),
    )
  })

  it('not from a path with a percent sign', () => {
    expect(() => lineOf('C:\\%TEMP%\\p.cmd')).toThrow(/the path of the batch file contains %/)
  })

  it('not with a line that is longer than that of cmd.exe', () => {
    const fits = 8191 - '"C:\\p.cmd" '.length
    expect(lineOf('C:\\p.cmd', 'x'.repeat(fits))).toHaveLength(8191)
    expect(() => lineOf('C:\\p.cmd', 'x'.repeat(fits + 1))).toThrow(/more than 8191 characters/)
  })

  it('with nothing special outside quotes, whatever the arguments are', () => {
    const text = fc.string({ unit: 'binary' })
    const nasty = fc.string({ unit: fc.constantFrom(...'&|<>^()%!"\\ =;,\n\ta') })
    fc.assert(
      fc.property(fc.array(fc.oneof(text, nasty)), (args) => {
        const line = tryLine(args)
        if (line === undefined) return
        expect(line.replace(/"[^"]*"/g, '')).toMatch(/^[\w ./:@+\\-]*$/)
        expect(line).not.toMatch(/[%!\r\n]/)
        expect(programArguments(line).slice(1)).toEqual(args)
      }),
      { numRuns: 2000 },
    )
  })
})

function tryLine(args: readonly string[]): string | undefined {
  try {
    return lineOf(PLUGIN, ...args)
  } catch {
    return undefined
  }
}

/** Splits a line as programs of Windows do: a backslash is an escape only before a quote. */
function programArguments(line: string): string[] {
  const words = line.match(/(?:"(?:\\+"|[^"])*?(?<!\\)(?:\\\\)*"|[^ "])+/g) ?? []
  return words.map((word) =>
    word
      .replace(/(\\*)"/g, (_, slashes: string) => '\\'.repeat(slashes.length / 2))
      .replaceAll('"', ''),
  )
}

it.each([
  ['C:\\p.cmd', true],
  ['p.BAT', true],
  ['C:\\p.Cmd. .', true],
  ['C:\\p.cmd::$DATA', true],
  ['C:\\p.exe', false],
  ['C:\\p.cmd\\q', false],
  ['C:\\p.cmd.exe', false],
  ['C:\\cmd', false],
])('whether %s is a batch file: %s', (path, is) => {
  expect(isBatchFile(path)).toBe(is)
})

it.each([
  ['p', undefined, ['p.COM', 'p.EXE', 'p.BAT', 'p.CMD']],
  ['p', '.EXE;;.CMD', ['p.EXE', 'p.CMD']],
  ['p.cmd', '.EXE;.CMD', ['p.cmd']],
  ['p.v2', '.EXE', ['p.v2.EXE']],
])('%s is looked up with PATHEXT=%s as %s', (command, pathExt, names) => {
  expect(windowsFileNames(command, pathExt)).toEqual(names)
})

it('the later one of two variables that differ in case is used', () => {
  expect(upperCaseNames({ Path: 'a', b: 'b', PATH: 'c' })).toEqual({ PATH: 'c', B: 'b' })
})
