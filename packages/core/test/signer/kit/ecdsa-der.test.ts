import { generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { ecdsaToDer } from 'kubecred/signer'
import { describe, expect, it } from 'vitest'
import { isEcdsaDer } from '../../../src/signer/kit/ecdsa-der.ts'

describe('ecdsaToDer', () => {
  it.each(['P-256', 'P-384', 'P-521'])(
    'makes a signature that OpenSSL verifies: %s',
    (namedCurve) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve })
      for (let count = 0; count < 50; count += 1) {
        const message = Buffer.from(`${count}`)
        const raw = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' })
        const der = ecdsaToDer(raw)
        expect(verify('sha256', message, publicKey, der)).toBe(true)
        expect(isEcdsaDer(der)).toBe(true)
        expect(isEcdsaDer(raw)).toBe(false)
      }
    },
  )

  it('keeps the numbers, also with leading zeros', () => {
    expect(Buffer.from(ecdsaToDer(Buffer.from('0000000000000080', 'hex'))).toString('hex')).toBe(
      '300702010002020080',
    )
  })

  it.each([0, 1, 65])('rejects %i bytes', (length) => {
    expect(() => ecdsaToDer(Buffer.alloc(length))).toThrow(TypeError)
  })

  it('makes DER that is recognised only if it is complete', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2, maxLength: 132 }), (bytes) => {
        const der = ecdsaToDer(
          bytes.length % 2 === 0
            ? bytes
            : bytes.subarray(1).length % 2 === 0
              ? bytes.subarray(1)
              : bytes,
        )
        expect(isEcdsaDer(der)).toBe(true)
        expect(isEcdsaDer(der.subarray(0, -1))).toBe(false)
        expect(isEcdsaDer(Buffer.concat([der, Buffer.of(0)]))).toBe(false)
      }),
    )
  })
})
