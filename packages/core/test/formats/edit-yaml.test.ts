import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editYaml } from '../../src/formats/edit-yaml.ts'
import { parseYaml } from '../../src/formats/yaml.ts'

const PATH = ['users', { named: 'u' }, 'user', 'config'] as const

/** A document with this text as the config of user `u`, among other data that must not change. */
function around(config: string): string {
  return `# mine\nusers:\n- name: other # keep\n  user: {config: {id: "x"}}\n-   name: u\n    user:\n      config:${config}\nlast:   [ 1,  2 ] # odd spaces\n`
}

describe('a value is replaced', () => {
  it.each([
    ['plain', '\n        id: old # mine\n        b: 1', '\n        id: "new" # mine\n        b: 1'],
    ['in double quotes', '\n        id: "o\\"ld"', '\n        id: "new"'],
    ['in single quotes', "\n        id:   'o''ld'", "\n        id:   'new'"],
    ['empty', '\n        id:\n        b: 1', '\n        id: "new"\n        b: 1'],
    [
      'empty with a comment',
      '\n        id: # why\n        b: 1',
      '\n        id: "new" # why\n        b: 1',
    ],
    ['null', '\n        id: ~', '\n        id: "new"'],
    [
      'a block',
      '\n        id: |\n          o\n          ld\n        b: 1',
      '\n        id: "new"\n        b: 1',
    ],
    [
      'folded over lines',
      '\n        id: o\n          ld\n        b: 1',
      '\n        id: "new"\n        b: 1',
    ],
    ['in a flow', ' {a: 1, id: old , b: 2}', ' {a: 1, id: "new" , b: 2}'],
    ['as JSON', ' {"id":"old"}', ' {"id":"new"}'],
    ['the last of two', '\n        id: a\n        id: b', '\n        id: a\n        id: "new"'],
    ['under a quoted key', '\n        "id": old', '\n        "id": "new"'],
  ])('%s', (_, before, after) => {
    expect(editYaml(around(before), PATH, { id: 'new' })).toBe(around(after))
  })
})

describe('a value is added', () => {
  it.each([
    ['in a block', '\n        b: 1 # mine', '\n        id: "new"\n        b: 1 # mine'],
    [
      'below a comment',
      '\n        # mine\n        b: 1',
      '\n        # mine\n        id: "new"\n        b: 1',
    ],
    ['in a flow', ' {b: 1}', ' {"id": "new", b: 1}'],
    [
      'in JSON over lines',
      ' {\n          "b": 1\n        }',
      ' {\n          "id": "new",\n          "b": 1\n        }',
    ],
  ])('%s', (_, before, after) => {
    expect(editYaml(around(before), PATH, { id: 'new' })).toBe(around(after))
  })

  it('with CRLF line breaks', () => {
    const text = around('\n        b: 1').replaceAll('\n', '\r\n')
    const edited = editYaml(text, PATH, { id: 'new' })
    expect(edited).toBe(around('\n        id: "new"\n        b: 1').replaceAll('\n', '\r\n'))
  })
})

it('a JWT is written without quotes, as kubectl does', () => {
  const edited = editYaml(around('\n        id: old'), PATH, { id: 'eyJhbGciOi.eyJzdWIi.c2ln' })
  expect(edited).toBe(around('\n        id: eyJhbGciOi.eyJzdWIi.c2ln'))
})

it('a JSON document stays JSON, whatever the value', () => {
  const text = JSON.stringify({ users: [{ name: 'u', user: { config: { id: 'old' } } }] })
  const value = 'bell \u0007, no-break space \u00a0, \u{1f600}'
  const edited = JSON.parse(editYaml(text, PATH, { id: value, refresh: value }))
  expect(edited.users[0].user.config).toEqual({ id: value, refresh: value })
})

describe('a document that cannot be edited in place is rejected:', () => {
  const shared = 'base: &b\n  id: x\nusers:\n- name: u\n  user:\n    config: *b\n'
  it.each([
    ['an alias for the whole mapping', shared],
    ['a mapping that others use', shared.replace('*b', '&c {id: a}\nmore: *c').replace('&b', '')],
    ['no such user', 'users:\n- name: v\n'],
    ['a scalar instead of a mapping', 'users:\n- name: u\n  user: {config: 7}\n'],
    ['a value that is a list', 'users:\n- name: u\n  user: {config: {id: &x [1]}}\nmore: *x\n'],
    ['an empty document', ''],
    ['invalid YAML', '{'],
  ])('%s', (_, text) => {
    expect(() => editYaml(text, PATH, { id: 'marked-secret' })).toThrow(
      expect.objectContaining({
        name: 'YamlError',
        message: expect.not.stringContaining('marked'),
      }),
    )
  })
})

it('a value in any style is replaced, and nothing else changes', () => {
  const printable = fc.string({ minLength: 1, unit: 'grapheme-ascii' })
  fc.assert(
    fc.property(printable, printable, fc.boolean(), (old, value, isQuoted) => {
      const config = isQuoted ? `\n        id: ${JSON.stringify(old)}` : '\n        b: 1'
      const text = around(config)
      const edited = editYaml(text, PATH, { id: value, refresh: value })
      const data = parseYaml(text) as { users: { user: { config: object } }[] }
      Object.assign(data.users[1]?.user.config ?? {}, { id: value, refresh: value })
      expect(parseYaml(edited)).toEqual(data)
    }),
  )
})
