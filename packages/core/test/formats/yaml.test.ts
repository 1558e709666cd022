import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Lexer } from 'yaml'
import { parseYaml, YamlError } from '../../src/formats/yaml.ts'

describe('a value means what it means to Kubernetes', () => {
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
    ['|\n  a\n  b', 'a\nb\n'],
    ['1.2.3', '1.2.3'],
    ...['e1', 'E5', '.e1', '-.e1', '+e1', '.', '-.', '._', '12e4567', '1e400', '.5e999'].map(
      (text): [string, unknown] => [text, text],
    ),
  ])('%s', (text, value) => {
    expect(parseYaml(`x: ${text}`)).toEqual({ x: value })
  })

  it.each(['.inf', '-.INF', '+.Inf', '.nan', '.NaN', '!!float 1e400'])(
    'but %s is refused, for JSON has no such number',
    (text) => {
      expect(() => parseYaml(`x: ${text}`)).toThrow('a number is not finite')
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

  it('and of two equal keys the last wins', () => {
    expect(parseYaml('a: 1\nb: 2\na: 3')).toEqual({ a: 3, b: 2 })
  })

  it.each(['? [a]\n: b', '? {a: 1}\n: b', 'a: &x 1\n*x : 2'])(
    'a list, map or alias is no key: %j',
    (text) => {
      expect(() => parseYaml(text)).toThrow('a key is not a plain word')
    },
  )
})

describe('aliases and merge keys', () => {
  it('an alias stands for the last anchor of its name before it', () => {
    expect(parseYaml('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual({ a: 1, b: 1, c: 2, d: 2 })
  })

  it('an alias without an anchor before it is an error', () => {
    expect(() => parseYaml('a: *x\nb: &x 1')).toThrow('an alias has no anchor')
  })

  it('a merge key fills in what is not there', () => {
    expect(parseYaml('a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3')).toEqual({
      a: { p: 1, q: 2 },
      b: { p: 1, q: 3 },
    })
  })

  it('of several merged maps the first wins', () => {
    expect(parseYaml('<<: [{a: 1}, {a: 2, b: 3}]')).toEqual({ a: 1, b: 3 })
  })

  it('a merge key in quotes is a name like any other', () => {
    expect(parseYaml('"<<": {a: 1}')).toEqual({ '<<': { a: 1 } })
  })

  it('a value that contains itself is refused', () => {
    expect(() => parseYaml('a: &a [*a]')).toThrow('levels deep')
  })

  it('a bomb of aliases is refused', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (const [index, name] of [...'bcdefghi'].entries()) {
      const inner = Array(9).fill(`*${'abcdefgh'[index]}`).join(',')
      lines.push(`${name}: &${name} [${inner}]`)
    }
    expect(() => parseYaml(lines.join('\n'))).toThrow('more than 100000 values through aliases')
  })

  it('tens of thousands of aliases take no longer than as many values', () => {
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

  it('is read as JSON is, for all JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.parse(JSON.stringify(parseYaml(text), bigintAsNumber))).toEqual(
          JSON.parse(text),
        )
      }),
    )
  })

  it.each([250, 1000, 20_000])('is refused when it is %i levels deep', (depth) => {
    expect(() => parseYaml(`${'['.repeat(depth)}${']'.repeat(depth)}`)).toThrow(YamlError)
  })

  it.each([
    ['in brackets', '[', ']'],
    ['in brackets that quotes seem to close', '["]",', ']'],
    ['in braces that quotes seem to close', '{"a":"}","b":', '}'],
    ['in brackets that comments seem to close', '[ # ]\n', ']'],
    ['in dashes', '- ', ''],
    ['in question marks', '? ', ''],
  ])('is refused when it nests too deep %s, before that can end the process', (_, open, close) => {
    const depth = 30_000
    const text = `${open.repeat(depth)}1${close.repeat(depth)}`
    expect(() => parseYaml(text)).toThrow('levels deep')
  })

  it('is refused when it nests too deep between comments that seem to end each level', () => {
    const lines = Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:\n# here`)
    expect(() => parseYaml(lines.join('\n'))).toThrow('levels deep')
  })

  it('may nest 150 levels deep in every way', () => {
    const flow = `${'['.repeat(150)}${']'.repeat(150)}`
    const block = Array.from({ length: 150 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')
    for (const text of [flow, block]) expect(() => parseYaml(text)).not.toThrow()
  })

  it('is refused when it has too many values in a form that takes long to read', () => {
    const text = `[${'1,'.repeat(500_001)}]`
    expect(() => parseYaml(text)).toThrow('more than 500000 lines and list items')
  })

  it('may have any number of values in plain form, or in JSON', () => {
    const count = 600_000
    expect(parseYaml('- abc\n'.repeat(count))).toHaveLength(count)
    const { a } = parseYaml(`{"a": [${'1,'.repeat(count)}1]}`) as { a: readonly unknown[] }
    expect(a).toHaveLength(count + 1)
  })
})

describe('an error', () => {
  it.each([
    ['a:\n\tb: hunter2', 'a tab where only spaces may stand', 2],
    ['token: hunter2: more', 'a second colon on one line', 1],
    ['a: "hunter2', 'a quote, bracket or colon is missing', 1],
    ['a: "\\hunter2"', 'an unknown escape', 1],
    ['a: 1\nb: [hunter2', 'wrong indentation', 2],
    ['a: @hunter2', 'bad scalar start', 1],
    ['a: 1\n- hunter2\n', 'a colon is missing', 2],
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

describe('a plain text, which is read in a shorter way, means the same', () => {
  /** A letter that is not ASCII is reason enough to read the whole text with the YAML reader. */
  const readFully = (text: string): unknown => parseYaml(`# ä\n${text}`)
  /** Values with the order of their keys, or that there is none. */
  const outcome = (read: () => unknown): string => {
    try {
      return inspect(read(), { depth: 20, maxArrayLength: null })
    } catch {
      // The line may be another one.
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
    expect(outcome(() => parseYaml(text))).toBe(outcome(() => readFully(text)))
  })

  it('and is really read in that way: the YAML reader gets only what may be a number', ({
    skip,
  }) => {
    const lex = vi.spyOn(Lexer.prototype, 'lex')
    parseYaml('- [flow]')
    if (lex.mock.calls.length === 0) {
      lex.mockRestore()
      skip('a library that is installed has a YAML reader of its own')
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

  it('for all texts', () => {
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
        expect(outcome(() => parseYaml(each))).toBe(outcome(() => readFully(each)))
      }),
      { numRuns: 3000 },
    )
  })
})
