import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseYaml, YamlError } from '../../src/protocol/yaml.ts'

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
  ])('%s', (text, value) => {
    expect(parseYaml(`x: ${text}`)).toEqual({ x: value })
  })

  it.each(['.inf', '-.INF', '.nan', '1e400'])(
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
    expect(() => parseYaml(lines.join('\n'))).toThrow('more than 100000 values')
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

  it.each(['1,', '- 1\n'])('is refused when it has too many values: %j and so on', (item) => {
    const text = item.repeat(100_001)
    expect(() => parseYaml(item.startsWith('-') ? text : `[${text}]`)).toThrow('more than')
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
