import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson } from '../../src/formats/json.ts'

describe('encodeJson', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(encodeJson(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it.each<[unknown, string]>([
    [12_345_678_901_234_567_890n, '12345678901234567890'],
    [{ a: [9_007_199_254_740_993n] }, '{"a":[9007199254740993]}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[undefined], '[null]'],
    [undefined, 'null'],
    [Number.NaN, 'null'],
    [{ 'a"b': '\n' }, '{"a\\"b":"\\n"}'],
  ])('encodes %o as %s', (value, text) => {
    expect(encodeJson(value)).toBe(text)
  })

  it('writes one line, whatever the data', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(encodeJson(value)).not.toMatch(/[\r\n]/)
      }),
    )
  })
})
