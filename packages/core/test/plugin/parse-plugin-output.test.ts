import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CredentialError, isCredentialError } from '../../src/errors/index.ts'
import { describeType } from '../../src/formats/plain-object.ts'
import { parsePluginOutput } from '../../src/plugin/exec-credential.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parsePluginOutput(bytes(text), { command: 'p' })

function failureOf(output: Uint8Array): CredentialError {
  try {
    parsePluginOutput(output, { command: 'p', facts: { tookMs: 7, stderrTail: 'tail' } })
  } catch (error) {
    if (isCredentialError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('an object is parsed', () => {
  it.each([
    ['JSON', '{"a":{"b":1}}'],
    ['JSON with white space around it', '\n\t {"a":{"b":1}} \r\n'],
    ['JSON with a byte order mark', '\ufeff{"a":{"b":1}}'],
    ['YAML', 'a:\n  b: 1\n'],
    ['YAML with a document marker', '---\na: {b: 1}\n'],
    ['the first of several YAML documents', 'a: {b: 1}\n---\n{{{'],
    ['JSON with a duplicate field', '{"a":2,"a":{"b":1}}'],
  ])('from %s', (_, text) => {
    expect(parse(text)).toEqual({ a: { b: 1 } })
  })
})

describe('output is rejected', () => {
  it.each([
    { name: 'empty output', text: '', code: 'ERR_PLUGIN_NO_OUTPUT', says: 'printed nothing' },
    { name: 'white space', text: ' \n\t', code: 'ERR_PLUGIN_NO_OUTPUT', says: 'printed nothing' },
    {
      name: 'JSON cut off',
      text: '{"a": {',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'unexpected end of JSON input after 7',
    },
    {
      name: 'JSON cut off in a string',
      text: '{"a": "hun',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'unexpected end of JSON input',
    },
    {
      name: 'JSON followed by text',
      text: '{"a":1} hunter2',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'position 8 of 15',
    },
    { name: 'two objects', text: '{"a":1}{"b":2}', code: 'ERR_PLUGIN_SYNTAX', says: 'position 7' },
    {
      name: 'a position that is part of the text',
      text: '{"a":x at position 4711}',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'syntax error in 24 characters of JSON',
    },
    {
      name: 'a bare word in JSON',
      text: '{"a": hunter2}',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'syntax error',
    },
    { name: 'a list', text: '[1]', code: 'ERR_PLUGIN_SYNTAX', says: 'printed a list' },
    { name: 'a sentence', text: 'logged in', code: 'ERR_PLUGIN_SYNTAX', says: 'printed a string' },
    { name: 'a number', text: '42', code: 'ERR_PLUGIN_SYNTAX', says: 'printed a number' },
    { name: 'null', text: 'null', code: 'ERR_PLUGIN_SYNTAX', says: 'printed null instead of' },
    {
      name: 'a message and an object',
      text: 'Hi: there: you\n{}',
      code: 'ERR_PLUGIN_SYNTAX',
      says: 'neither JSON nor YAML',
    },
  ])('$name', ({ text, code, says }) => {
    const error = failureOf(bytes(text))
    expect(error).toMatchObject({ code, tookMs: 7, stderrTail: 'tail' })
    expect(error.message).toContain(says)
  })

  it('bytes that are not UTF-8', () => {
    const error = failureOf(new Uint8Array([0x7b, 0xff, 0x7d]))
    expect(error.message).toContain('not UTF-8')
    expect(error.hint).toContain('locale')
  })

  it('JSON that is nested too deeply', () => {
    const depth = 1_000_000
    const error = failureOf(bytes(`{"a":${'['.repeat(depth)}`))
    expect(error.code).toBe('ERR_PLUGIN_SYNTAX')
  })

  it('without quoting it in the error', () => {
    const piece = fc.constantFrom(
      'hunter2',
      'position 4711',
      '"',
      '{',
      '}',
      ':',
      ',',
      '\n',
      ' ',
      '[',
      '\\',
      '- ',
    )
    const text = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(text, fc.boolean(), (middle, isJson) => {
        const output = bytes(isJson ? `{${middle}` : middle)
        try {
          parsePluginOutput(output, { command: 'p' })
        } catch (error) {
          const { message, hint, cause } = error as CredentialError
          expect(`${message} ${hint}`).not.toMatch(/hunter2|4711/)
          expect(cause).toBeUndefined()
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('the name of a type in messages', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [[], 'a list'],
    [{}, 'an object'],
    [1, 'a number'],
    [1n, 'a number'],
    ['x', 'a string'],
    [true, 'a boolean'],
  ])('for %o is %s', (value, name) => {
    expect(describeType(value)).toBe(name)
  })
})
