import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { CKR_WORDS } from '../../src/ckr-words.ts'
import * as ours from '../../src/cryptoki.ts'
import { explainFailure } from '../../src/explain-failure.ts'

let native: Readonly<Record<string, unknown>> = {}
try {
  native = createRequire(import.meta.url)('pkcs11js')
} catch {
  // Without a compiler it is not there; the tests that need it are skipped.
}
const hasNative = Object.keys(native).length > 0

describe.skipIf(!hasNative)('the numbers (needs pkcs11js)', () => {
  it('have words for every error that the native module knows', () => {
    const known = Object.entries(native).filter(([name]) => name.startsWith('CKR_'))
    expect(known.length).toBeGreaterThan(80)
    for (const [name, code] of known)
      expect(CKR_WORDS).toHaveProperty(name, expect.objectContaining({ code }))
  })

  it('are those of the native module', () => {
    for (const [name, value] of Object.entries(ours)) {
      if (typeof value === 'number' && native[name] !== undefined)
        expect([name, value]).toEqual([name, native[name]])
    }
  })
})

describe('the words', () => {
  it.each(Object.entries(CKR_WORDS))(
    'of %s are a reason and a sentence',
    (_, { means, remedy }) => {
      expect(means).toMatch(/^[a-z].*[^.]$/)
      expect(remedy).toMatch(/^[A-Z]/)
    },
  )

  it('are for one number each', () => {
    const codes = Object.values(CKR_WORDS).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  const failure = (code: number): unknown =>
    explainFailure(Object.assign(new Error('x'), { name: 'Pkcs11Error', code }), 'sign')

  it('stand in the error, with what to do', () => {
    expect(failure(0xa4)).toMatchObject({
      message: 'cannot sign: the token is locked after too many wrong PINs (CKR_PIN_LOCKED)',
      hint: expect.stringContaining('PUK'),
      ckr: 0xa4,
    })
  })

  it('of a maker have the number to look up', () => {
    expect(failure(0x80000042)).toMatchObject({
      message: 'cannot sign: the library gave a reason that only its maker knows (0x80000042)',
    })
    expect(failure(0x999)).toMatchObject({ message: expect.stringContaining('(0x999)') })
  })

  it('are not for other errors', () => {
    const other = new TypeError('x')
    expect(explainFailure(other, 'sign')).toBe(other)
  })
})
