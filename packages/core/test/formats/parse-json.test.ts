import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson, JsonError, parseJson } from '../../src/formats/json.ts'

describe('parseJson', () => {
  it.each([
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-12345678901234567890', -12_345_678_901_234_567_890n],
    ['1.12345678901234567890', Number('1.12345678901234567890')],
    ['12345678901234567890.5', Number('12345678901234567890.5')],
    ['12345678901234567890e1', Number('12345678901234567890e1')],
    ['"12345678901234567890"', '12345678901234567890'],
    ['"a\\"12345678901234567890"', 'a"12345678901234567890'],
    ['["integer:1",12345678901234567890]', ['integer:1', 12_345_678_901_234_567_890n]],
    ['["\\u0069nteger:x",12345678901234567890]', ['integer:x', 12_345_678_901_234_567_890n]],
    ['{"12345678901234567890":1}', { '12345678901234567890': 1 }],
  ])('keeps every digit of %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it('reads what encodeJson writes, including integers of any size', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary' }),
        fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.constantFrom(null, true, false),
        fc.array(tie('any')),
        fc.dictionary(fc.string(), tie('any')),
      ),
    })).any
    fc.assert(
      fc.property(value, (given) => {
        const text = encodeJson(given)
        expect(encodeJson(parseJson(text))).toBe(text)
      }),
    )
  })

  it.each(['', '{', '[1,]', '{"a":hunter2}', '"hunter2'])(
    'does not quote invalid JSON in its error: %s',
    (text) => {
      expect(() => parseJson(text)).toThrow(/^(?!.*hunter2).*(?:unexpected end|syntax error)/)
    },
  )

  it('rejects long integers below more levels than the stack has', () => {
    const [open, close] = ['['.repeat(300_000), ']'.repeat(300_000)]
    expect(() => parseJson(`${open}12345678901234567890${close}`)).toThrow(JsonError)
  })

  it('reads a megabyte quickly', () => {
    const text = JSON.stringify({ long: `${'\\"1234567890123456'.repeat(60_000)}` })
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })
})
