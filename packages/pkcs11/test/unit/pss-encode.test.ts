import { constants, createHash, generateKeyPairSync, privateEncrypt, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pssEncode } from '../../src/pss-encode.ts'
import { signingMethods } from '../../src/signing-methods.ts'

describe('EMSA-PSS', () => {
  it.each([
    ['sha256', 2048],
    ['sha384', 2048],
    ['sha512', 2048],
    ['sha256', 2047],
    ['sha256', 2041],
    ['sha512', 1040],
  ] as const)('with %s and %i bits is verified by OpenSSL', (hash, modulusLength) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
    const message = Buffer.from('message')
    const digest = createHash(hash).update(message).digest()
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0
    const padded = pssEncode(digest, hash, bits)
    const signature = privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, padded)
    const padding = constants.RSA_PKCS1_PSS_PADDING
    const how = { key: publicKey, padding, saltLength: digest.length }
    expect(verify(hash, message, how, signature)).toBe(true)
  })

  it('rejects a key that is too short', () => {
    expect(() => pssEncode(Buffer.alloc(64), 'sha512', 1024)).toThrow('too short for sha512')
  })
})

describe('RSA-PSS in a token', () => {
  const mechanismsFor = (mechanisms: number[], modulusBits = 2048): number[] =>
    signingMethods('rsa_pss_rsae_sha256', 'RSA', { mechanisms, modulusBits }).map(
      ({ mechanism }) => mechanism.mechanism,
    )

  it('uses the padding of the token if it has one, else pads in software', () => {
    expect(mechanismsFor([0x1, 0x3, 0xd])).toEqual([0xd, 0x3])
    expect(mechanismsFor([0x3])).toEqual([0x3])
  })

  it('fails if the token supports neither, or hides the modulus', () => {
    expect(() => mechanismsFor([0x1])).toThrow('the token does not support rsa_pss_rsae_sha256')
    expect(() => mechanismsFor([0x3], 0)).toThrow('the token does not support')
  })
})
