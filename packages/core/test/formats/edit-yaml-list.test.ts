import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editYamlList } from '../../src/formats/edit-yaml.ts'
import { parseYaml } from '../../src/formats/yaml.ts'

const PATH = ['users', { named: 'u' }, 'user', 'exec']
const around = (args: string): string => `# first
users:
- name: other
  user: {exec: {command: x, args: [a]}}
- name: u # ours
  user:
    exec:
      # why this plugin
      command: aws   # of the corporation
${args}      env: null
      somethingNew: 7
# last
`
const insert = (text: string): string =>
  editYamlList(text, PATH, 'args', { removed: 0, inserted: ['--', 'aws'] })
const remove = (text: string): string =>
  editYamlList(text, PATH, 'args', { removed: 2, inserted: [] })
const argsOf = (text: string): unknown =>
  (parseYaml(text) as { users: { user: { exec: { args: unknown } } }[] }).users[1]?.user.exec.args

describe('editYamlList', () => {
  it.each([
    [
      'a list of lines',
      '      args:\n      - eks # service\n      # why\n      - get-token\n',
      'exact',
    ],
    ['deeper lines', '      args:\n        - eks\n        - "get-token"\n', 'exact'],
    ['one line', '      args: [eks, "get-token"]\n', 'exact'],
    [
      'several lines in brackets',
      '      args: [\n        eks,\n        get-token\n      ]\n',
      'exact',
    ],
    ['nothing', '', 'same'],
    ['null', '      args: null\n', 'same'],
    ['no value', '      args:\n', 'same'],
    ['an empty list', '      args: []\n', 'exact'],
    ['lines with CRLF', '      args:\r\n      - eks\r\n      - get-token\r\n', 'exact'],
  ])('inserts items before %s, and removes them again', (_, args, back) => {
    const text = around(args)
    const old = (argsOf(text) as string[] | null | undefined) ?? []
    const edited = insert(text)
    expect(argsOf(edited)).toEqual(['--', 'aws', ...old])
    for (const comment of text.matchAll(/#.*/g)) expect(edited).toContain(comment[0])
    expect(edited).toContain('somethingNew: 7')
    const undone = remove(edited)
    if (back === 'exact') expect(undone).toBe(text)
    else expect(argsOf(undone)).toEqual([])
  })

  it.each([
    ['an alias', 'a: &l [x]\nusers:\n- {name: u, user: {exec: {command: c, args: *l}}}\n'],
    ['a merged mapping', 'a: &e {args: [x]}\nusers:\n- name: u\n  user:\n    exec: *e\n'],
  ])('does not touch %s', (_, text) => {
    expect(() => insert(text)).toThrow(/cannot be edited|not a mapping|no position/)
  })

  it('keeps any string intact', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (items) => {
        const safe = items.filter((item) => Buffer.from(item).toString() === item)
        const text = editYamlList(around(''), PATH, 'args', { removed: 0, inserted: safe })
        expect(argsOf(text)).toEqual(safe)
      }),
      { numRuns: 20 },
    )
  })
})
