import fc from 'fast-check'
import { expect, it } from 'vitest'
import { choosePalette } from '../../src/render/colour.ts'
import { indentJson } from '../../src/render/indent-json.ts'

const plain = choosePalette(false, {})

it('indents JSON exactly as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const expected = JSON.stringify(JSON.parse(text), null, 2)
      expect(JSON.parse(indentJson(text, plain) ?? 'null')).toEqual(JSON.parse(text))
      // Escapes and the spelling of numbers are kept, so only texts without them are equal.
      if (JSON.stringify(JSON.parse(text)) === text && !/[\p{Cc}\p{Cf}]/u.test(text)) {
        expect(indentJson(text, plain)).toBe(`${expected}\n`)
      }
    }),
  )
})

it('does not round large numbers', () => {
  expect(indentJson('{"uid":12345678901234567890,"x":1.10}', plain)).toBe(
    '{\n  "uid": 12345678901234567890,\n  "x": 1.10\n}\n',
  )
})

it('escapes control characters', () => {
  const text = JSON.stringify({ a: '\u009b31m \u202e \u007f' })
  const shown = indentJson(text, plain) ?? ''
  expect(shown).toBe('{\n  "a": "\\u009b31m \\u202e \\u007f"\n}\n')
  expect(JSON.parse(shown)).toEqual(JSON.parse(text))
})

it('returns undefined for other text', () => {
  expect(indentJson('{"a":', plain)).toBeUndefined()
  expect(indentJson('', plain)).toBeUndefined()
})
