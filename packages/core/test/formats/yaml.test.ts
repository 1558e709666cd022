import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Lexer } from 'yaml'
import { parseYaml, YamlError } from '../../src/formats/yaml.ts'

describe('a scalar has the value that Kubernetes reads:', () => {
  it.each<[string, unknown]>([
    ['yes', true],
    ['On', true],
    ['TRUE', true],
    ['n', false],
    ['off', false],
    ['"yes"', 'yes'],
    ["'on'", 'on'],
    ['~', null],
    ['', null],
    ['010', 8],
    ['"010"', '010'],
    ['0x1F', 31],
    ['0b11', 3],
    ['1_000', 1000],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-12345678901234567890', -12_345_678_901_234_567_890n],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00Z'],
    ['!!str 12', '12'],
    ['!custom x', 'x'],
    ['|\n  a\n  b\n', 'a\nb\n'],
    ['1.2.3', '1.2.3'],
    ...['e1', 'E5', '.e1', '-.e1', '+e1', '.', '-.', '._', '12e4567', '1e400', '.5e999'].map(
      (text): [string, unknown] => [text, text],
    ),
  ])('%s', (text, value) => {
    expect(parseYaml(`x: ${text}`)).toEqual({ x: value })
  })

  it.each(['.inf', '-.INF', '+.Inf', '.nan', '.NaN', '!!float 1e400'])(
    '%s is rejected, because JSON has no such number',
    (text) => {
      expect(() => parseYaml(`x: ${text}`)).toThrow('number is not finite')
    },
  )
})

describe('a key keeps its spelling', () => {
  it.each(['on', 'y', 'no', '1', '010', '1.0', 'null', '~', 'true', '0x10', '1_0', '__proto__'])(
    '%s',
    (key) => {
      expect(Object.entries(parseYaml(`${key}: v`) as object)).toEqual([[key, 'v']])
    },
  )

  it('the last of two equal keys wins', () => {
    expect(parseYaml('a: 1\nb: 2\na: 3')).toEqual({ a: 3, b: 2 })
  })

  it.each(['? [a]\n: b', '? {a: 1}\n: b', 'a: &x 1\n*x : 2'])(
    'a list, map or alias is rejected as a key: %j',
    (text) => {
      expect(() => parseYaml(text)).toThrow('key is not a scalar')
    },
  )
})

describe('aliases and merge keys', () => {
  it('an alias refers to the last anchor of its name before it', () => {
    expect(parseYaml('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual({ a: 1, b: 1, c: 2, d: 2 })
  })

  it('an alias without an anchor before it is an error', () => {
    expect(() => parseYaml('a: *x\nb: &x 1')).toThrow('alias without an anchor')
  })

  it.each([
    ['<<: {p: 1, q: 2}\nq: 3', { p: 1, q: 3 }],
    ['q: 3\n<<: {p: 1, q: 2}', { p: 1, q: 2 }],
    ['<<: {q: 1}\n<<: {q: 2}', { q: 2 }],
    ['a: &x {q: 1}\n<<: {q: 2, <<: *x}', { a: { q: 1 }, q: 1 }],
  ])('of own and merged keys the last one counts, as for kubectl: %j', (text, value) => {
    expect(parseYaml(text)).toEqual(value)
  })

  it.each(['<<: x', '<<: [x]', '<<: null', '<<: [[{a: 1}]]', 'a: &x [{b: 1}]\n<<: *x'])(
    'a merge key with something else than maps is rejected: %j',
    (text) => {
      expect(() => parseYaml(text)).toThrow('a merge key needs a map')
    },
  )

  it('the first of several merged maps wins', () => {
    expect(parseYaml('<<: [{a: 1}, {a: 2, b: 3}]')).toEqual({ a: 1, b: 3 })
  })

  it.each(['"<<": {a: 1}', '!!str <<: {a: 1}'])('an ordinary key is not merged: %j', (text) => {
    expect(parseYaml(text)).toEqual({ '<<': { a: 1 } })
  })

  it('a value that contains itself is rejected', () => {
    expect(() => parseYaml('a: &a [*a]')).toThrow('levels deep')
  })

  it('an alias bomb is rejected', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (const [index, name] of [...'bcdefghi'].entries()) {
      const inner = Array(9).fill(`*${'abcdefgh'[index]}`).join(',')
      lines.push(`${name}: &${name} [${inner}]`)
    }
    expect(() => parseYaml(lines.join('\n'))).toThrow('more than 100000 values through aliases')
  })

  it('tens of thousands of aliases are read as fast as values', () => {
    const count = 40_000
    const text = `a: &a 1\nb: [${Array(count).fill('*a').join(',')}]`
    const { b } = parseYaml(text) as { b: readonly unknown[] }
    expect(b).toHaveLength(count)
  }, 10_000)
})

describe('a document', () => {
  it.each([
    ['', null],
    ['# only a comment', null],
    ['---\n', null],
    ['---\na: 1\n---\nb: 2', { a: 1 }],
    ['a: 1\n...\n{{{ no YAML', { a: 1 }],
    ['\ufeffa: 1', { a: 1 }],
    ['a: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
    ['- a\n- b', ['a', 'b']],
    ['just text', 'just text'],
  ])('%j', (text, value) => {
    expect(parseYaml(text)).toEqual(value)
  })

  it('in JSON has the same data as JSON.parse returns', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.parse(JSON.stringify(parseYaml(text), bigintAsNumber))).toEqual(
          JSON.parse(text),
        )
      }),
    )
  })

  it.each([250, 1000, 20_000])('is rejected if it is nested %i levels deep', (depth) => {
    expect(() => parseYaml(`${'['.repeat(depth)}${']'.repeat(depth)}`)).toThrow(YamlError)
  })

  it.each([
    ['in brackets', '[', ']'],
    ['in brackets that quotes seem to close', '["]",', ']'],
    ['in braces that quotes seem to close', '{"a":"}","b":', '}'],
    ['in brackets that comments seem to close', '[ # ]\n', ']'],
    ['in dashes', '- ', ''],
    ['in question marks', '? ', ''],
  ])('is rejected if it nests too deep %s, before that can end the process', (_, open, close) => {
    const depth = 30_000
    const text = `${open.repeat(depth)}1${close.repeat(depth)}`
    expect(() => parseYaml(text)).toThrow('levels deep')
  })

  it('is rejected if it nests too deep between comments that seem to end each level', () => {
    const lines = Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:\n# here`)
    expect(() => parseYaml(lines.join('\n'))).toThrow('levels deep')
  })

  it('can nest 150 levels deep in flow and block style', () => {
    const flow = `${'['.repeat(150)}${']'.repeat(150)}`
    const block = Array.from({ length: 150 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')
    for (const text of [flow, block]) expect(() => parseYaml(text)).not.toThrow()
  })

  it('is rejected if it has too many values in a form that is slow to parse', () => {
    const text = `[${'1,'.repeat(500_001)}]`
    expect(() => parseYaml(text)).toThrow('more than 500000 lines and list items')
  })

  it('can have more values in plain form, or in JSON', () => {
    const count = 600_000
    expect(parseYaml('- abc\n'.repeat(count))).toHaveLength(count)
    const { a } = parseYaml(`{"a": [${'1,'.repeat(count)}1]}`) as { a: readonly unknown[] }
    expect(a).toHaveLength(count + 1)
  })
})

describe('an error', () => {
  it.each([
    ['a:\n\tb: hunter2', 'a tab in the indentation', 2],
    ['token: hunter2: more', 'a second colon on one line', 1],
    ['a: "hunter2', 'a quote is not closed', 1],
    ['a: "\\hunter2"', 'an unknown escape', 1],
    ['a: 1\nb: [hunter2', 'a bracket is not closed', 2],
    ['a: @hunter2', 'starts with a reserved character', 1],
    ['a: 1\n- hunter2\n', 'a list item where a key is expected', 2],
  ])('names mistake and line of %j', (text, mistake, line) => {
    expect(() => parseYaml(text)).toThrow(
      expect.objectContaining({
        name: 'YamlError',
        line,
        message: expect.stringContaining(mistake),
      }),
    )
  })

  it('never quotes the text', () => {
    const piece = fc.constantFrom(
      'hunter2',
      ': ',
      '\n',
      '  ',
      '- ',
      '"',
      "'",
      '[',
      '{',
      '&a ',
      '*a',
      '!!x ',
      '\t',
      '%',
      '@',
      '|',
      '\\',
      '#',
      ',',
      '? ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          parseYaml(pieces.join(''))
        } catch (error) {
          expect(error).toBeInstanceOf(YamlError)
          expect(String(error)).not.toContain('hunter2')
        }
      }),
      { numRuns: 500 },
    )
  })
})

function bigintAsNumber(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

describe('plain YAML, which has a faster parser, has the same data:', () => {
  /** A character beyond ASCII selects the full parser. */
  const parseFully = (text: string): unknown => parseYaml(`# ä\n${text}`)
  /** The data with the order of its keys, or that there was an error. */
  const outcome = (read: () => unknown): string => {
    try {
      return inspect(read(), { depth: 20, maxArrayLength: null })
    } catch {
      // The line in the message may differ.
      return 'an error'
    }
  }

  it.each([
    ...[
      'a: b',
      'a:',
      'a: {}',
      'a: []',
      'a: "b c"',
      "a: 'b: c'",
      'a: "b\\n"',
      "a: 'b''c'",
      'a: b c',
    ],
    ...[
      'a: ---',
      'a: ...',
      'a: -',
      'a: - b',
      'a: -b',
      'a: --b',
      'a: --',
      'a: ~',
      'a: ~b',
      'a: .',
      'a: 1',
    ],
    ...['a: yes', 'a: y', 'yes: a', 'null: a', '1: a', 'a: 010', 'a: 0x1f', 'a: e1', 'a: 10.0.0.1'],
    ...[
      'a: b: c',
      'a: b:',
      'a: b #c',
      'a: b#c',
      'a: # b',
      'a: |\n  b',
      'a: b\n  c',
      'a: b\n c: d',
      'a : b',
    ],
    ...[
      'a: &b c\nd: *b',
      '<<: {a: b}',
      '? a\n: b',
      'a: !!str 1',
      '%a',
      '--- a',
      '---\na: b',
      'a: b\n...',
    ],
    ...[
      'a:\n- b\n- c',
      'a:\n  - b\n  - c',
      'a:\n- b: c\n  d: e\n- f: g',
      '- a\n- b',
      '- - a',
      '-',
      '- ',
      '- #',
    ],
    ...[
      'a:\n - b\nc: d',
      'a:\n  b: c\n d: e',
      'a: b\n- c',
      '- a\nb: c',
      '  a: b',
      ' a: b\n c: d',
      'a: b\n\n\nc: d',
    ],
    ...[
      'a:\n  b:\n    c: d\n  e: f\ng: h',
      '-   a: b\n    c: d',
      '- a: b\n   c: d',
      '- a:\n  - b',
      '- a:\n    b',
    ],
    ...[
      '# a\na: b\n  # c\nd: e',
      'a:\n# b\n  c: d',
      'a: b\na: c',
      '__proto__: a',
      'a: {b: c}',
      'a: [b]',
      '',
    ],
    ...[
      'a: @b',
      'a: `b',
      'a: %b',
      'a: !b',
      'a: *b',
      'a: "b" c',
      'a: "b',
      'a: >-\n  b',
      'a: ?',
      'a: ? b',
      'a: :b',
    ],
    ...[
      'a:b',
      'a:  b  ',
      'a: b\n#c\n  d',
      '"a": b',
      'a/b.c-d: e',
      'a: b\r\nc: d',
      'a:\tb',
      '- a: b\n- c',
      '-a: b',
    ],
  ])('%j', (text) => {
    expect(outcome(() => parseYaml(text))).toBe(outcome(() => parseFully(text)))
  })

  it('the full parser is used only for scalars that may be numbers', ({ skip }) => {
    const lex = vi.spyOn(Lexer.prototype, 'lex')
    parseYaml('- [flow]')
    if (lex.mock.calls.length === 0) {
      lex.mockRestore()
      skip('an installed library has its own copy of the YAML parser')
    }
    lex.mockClear()
    const entry = (at: number): string =>
      `- name: user-${at}\n  user:\n    exec:\n      command: "a b"\n      args:\n      - --x\n      - 1.2\n`
    const text = `kind: Config\nusers:\n${Array.from({ length: 1000 }, (_, at) => entry(at)).join('')}`
    try {
      expect(parseYaml(text)).toMatchObject({ users: { length: 1000 } })
      expect(lex.mock.calls.map(([given]) => given)).toEqual(['- 1.2'])
    } finally {
      lex.mockRestore()
    }
  })

  it('for any text', () => {
    const indent = fc.constantFrom('', '', '  ', '  ', '    ', ' ', '      ')
    const begin = fc.constantFrom('', '', '- ', '-   ', '# ')
    const key = fc.constantFrom('a: ', 'b:', 'name: ', 'yes: ', 'a-b: ', '', '"q": ')
    const value = fc.oneof(
      fc.constantFrom(
        'x',
        '',
        '1',
        'yes',
        '"t t"',
        "'s'",
        '{}',
        '[]',
        'https://h:1',
        'a b',
        '- c',
        '12e9',
        '~',
        'x: y',
      ),
      fc.string({ maxLength: 5 }),
    )
    const line = fc.tuple(indent, begin, key, value).map((parts) => parts.join(''))
    const text = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, (each) => {
        expect(outcome(() => parseYaml(each))).toBe(outcome(() => parseFully(each)))
      }),
      { numRuns: 3000 },
    )
  })
})
