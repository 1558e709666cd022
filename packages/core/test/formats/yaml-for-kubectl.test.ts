import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/formats/yaml.ts'

describe('a character that ends a line for kubectl only', () => {
  it.each([
    ['U+0085', '# comment\u0085token: hidden'],
    ['U+2028', 'token: a\n# comment\u2028token: b'],
    ['U+2029', '{"token": "a\u2029b"}'],
    ['U+000D', 'token: a # comment\r\ntoken: b # comment\rtoken: c'],
    ['U+000D', 'token: a\r'],
  ])('%s is rejected', (name, text) => {
    expect(() => parseYaml(text)).toThrow(`the character ${name}`)
  })

  it('is reported with its line, and can be written as an escape', () => {
    expect(() => parseYaml('a: 1\nb: \u2028')).toThrow('(line 2)')
    expect(parseYaml('a: "\\u2028"')).toEqual({ a: '\u2028' })
  })
})

describe('what kubectl reads as another value', () => {
  it.each(['a: !<tag:yaml.org,2002:bin%61ry> YWJj', '!!merge "<<": {a: 1}'])(
    'a tag that kubectl interprets is rejected: %j',
    (text) => {
      expect(() => parseYaml(text)).toThrow('not supported')
    },
  )

  it.each([
    'token: !!binary YWJj',
    '!!binary dG9rZW4=: a',
    'a: [!<tag:yaml.org,2002:binary> YWJj]',
  ])('binary data is rejected: %j', (text) => {
    expect(() => parseYaml(text)).toThrow('!!binary is not supported')
  })

  it.each([
    ['a: |\n  b', 'b'],
    ['a: |+\n  b', 'b'],
    ['a: >\n  b\n  c', 'b c'],
    ['a: |\r\n  b', 'b'],
    ['a: |\n  b\n', 'b\n'],
    ['a: |\n  b\n  ', 'b\n'],
    ['a: |\n  b\n# comment', 'b\n'],
  ])('a block at the end of the text has the line breaks that the text has: %j', (text, a) => {
    expect(parseYaml(text)).toEqual({ a })
  })
})
