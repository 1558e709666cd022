import { describe, expect, it } from 'vitest'
import { TypedLine } from '../../../src/plugin/kit/prompt.ts'

/** Types the pieces one after another and returns the result of the last one. */
function type(...pieces: readonly string[]): unknown {
  const line = new TypedLine()
  return pieces.map((piece) => line.feed(piece)).at(-1)
}

describe('a typed line', () => {
  it.each([
    ['pass\r', 'pass'],
    ['pass\n', 'pass'],
    ['\r', ''],
    ['päss😀\r', 'päss😀'],
    ['a b\tc\r', 'a b\tc'],
    ['wrong\x15right\r', 'right'],
    ['one two\x17three\r', 'one three'],
    ['ab\x7f\x7f\x7fc\r', 'c'],
    ['a😀\x7fb\r', 'ab'],
    ['ab\bc\r', 'ac'],
    ['a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1b[3~\r', 'abcd'],
    ['a\x1bb\r', 'ab'],
    ['a\x00\x1ab\r', 'ab'],
    ['ab\x04', 'ab'],
  ])('is read from %j', (typed, text) => {
    expect(type(typed)).toEqual({ is: 'line', text, rest: '' })
    expect(type(...typed)).toEqual({ is: 'line', text, rest: '' })
  })

  it('leaves what was typed ahead for the next question', () => {
    expect(type('jane\r\nsecret\r\n')).toEqual({ is: 'line', text: 'jane', rest: 'secret\r\n' })
  })

  it('is incomplete until its line break', () => {
    expect(type('pass')).toEqual({ is: 'more' })
  })

  it('is interrupted by Ctrl-C, and by Ctrl-D if it is empty', () => {
    expect(type('pass\x03')).toEqual({ is: 'interrupt' })
    expect(type('\x04')).toEqual({ is: 'closed' })
  })
})
