import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { CKR_MESSAGES } from '../../src/ckr-messages.ts'
import * as ours from '../../src/cryptoki.ts'
import { explainFailure } from '../../src/explain-failure.ts'

let native: Readonly<Record<string, unknown>> = {}
try {
  native = createRequire(import.meta.url)('pkcs11js')
} catch {
  // Missing where it could not be compiled; the tests that need it are skipped.
}
const hasNative = Object.keys(native).length > 0

describe.skipIf(!hasNative)('the constants (needs pkcs11js)', () => {
  it('include a message for every error of the native module', () => {
    const known = Object.entries(native).filter(([name]) => name.startsWith('CKR_'))
    expect(known.length).toBeGreaterThan(80)
    for (const [name, code] of known)
      expect(CKR_MESSAGES).toHaveProperty(name, expect.objectContaining({ code }))
  })

  it('are equal to those of the native module', () => {
    for (const [name, value] of Object.entries(ours)) {
      if (typeof value === 'number' && native[name] !== undefined)
        expect([name, value]).toEqual([name, native[name]])
    }
  })
})

describe('the message of a Cryptoki error', () => {
  it.each(Object.entries(CKR_MESSAGES))('has a reason and a hint: %s', (_, { reason, hint }) => {
    expect(reason).toMatch(/^[a-z].*[^.]$/)
    expect(hint).toMatch(/^[A-Z]/)
  })

  it('belongs to one code only', () => {
    const codes = Object.values(CKR_MESSAGES).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  const failure = (code: number): unknown =>
    explainFailure(Object.assign(new Error('x'), { name: 'Pkcs11Error', code }), 'sign')

  it('is in the explained error, with its hint', () => {
    expect(failure(0xa4)).toMatchObject({
      message: 'cannot sign: the token is locked after too many wrong PINs (CKR_PIN_LOCKED)',
      hint: expect.stringContaining('PUK'),
      ckr: 0xa4,
    })
  })

  it('shows the number of a vendor-defined or unknown error', () => {
    expect(failure(0x80000042)).toMatchObject({
      message: 'cannot sign: the library reported a vendor-defined error (0x80000042)',
    })
    expect(failure(0x999)).toMatchObject({ message: expect.stringContaining('(0x999)') })
  })

  it('is not added to other errors', () => {
    const other = new TypeError('x')
    expect(explainFailure(other, 'sign')).toBe(other)
  })
})
