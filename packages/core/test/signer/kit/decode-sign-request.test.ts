import { describe, expect, it } from 'vitest'
import { SignRequestError } from '../../../src/errors/kit-errors.ts'
import { decodeSignRequest } from '../../../src/signer/kit/decode-sign-request.ts'
import { certificateRequest, signRequest } from './spawn-signer.ts'

const decode = (request: unknown): ReturnType<typeof decodeSignRequest> =>
  decodeSignRequest(JSON.stringify(request))
const bytes = (length: number): string => Buffer.alloc(length, 7).toString('base64')
const plain = (go: unknown, length: number): object =>
  signRequest({ signerOptsType: 'crypto.Hash', signerOpts: `${go}`, digest: bytes(length) })
const pss = (options: object, length: number): object =>
  signRequest({ signerOpts: JSON.stringify(options), digest: bytes(length) })

describe('the signature scheme', () => {
  it.each([
    ['ecdsa_secp256r1_sha256', plain(5, 32)],
    ['ecdsa_secp384r1_sha384', plain(6, 48)],
    ['ecdsa_secp521r1_sha512', plain(7, 64)],
    ['ed25519', plain(0, 130)],
    ['rsa_pss_rsae_sha256', pss({ SaltLength: -1, Hash: 5 }, 32)],
    ['rsa_pss_rsae_sha384', pss({ SaltLength: -1, Hash: 6 }, 48)],
    ['rsa_pss_rsae_sha512', pss({ SaltLength: -1, Hash: 7 }, 64)],
    ['rsa_pss_rsae_sha384', pss({ SaltLength: 48, Hash: 6 }, 48)],
    ['rsa_pss_rsae_sha384', pss({ SaltLength: -1, Hash: 0 }, 48)],
    ['rsa_pss_rsae_sha256', pss({ SaltLength: 0, Hash: 5 }, 32)],
    ['rsa_pss_rsae_sha512', pss({ SaltLength: 0, Hash: 0 }, 64)],
    ['rsa_pss_rsae_sha256', signRequest({ signerOptsType: undefined, signerOpts: undefined })],
  ])('%s', (scheme, request) => {
    expect(decode(request)).toMatchObject({ is: 'sign', scheme })
  })

  it('ed25519 comes with the message as the digest', () => {
    const request = decode(plain(0, 130))
    expect(request.is === 'sign' && request.message).toEqual(Buffer.alloc(130, 7))
  })
})

describe('a request is rejected', () => {
  it.each([
    ['', 'null'],
    ['', '[]'],
    ['', '"text"'],
    ['', '{"pin":"1234'],
    ['apiVersion', '{}'],
    ['apiVersion', { ...signRequest(), apiVersion: 'external-signer.authentication.k8s.io/v1' }],
    ['kind', { ...signRequest(), kind: 'SignResponse' }],
    ['kind', { ...signRequest(), kind: undefined }],
    ['kind', { ...signRequest(), kind: 'constructor' }],
    ['configuration', { ...certificateRequest(), configuration: undefined }],
    ['configuration', { ...certificateRequest(), configuration: ['a'] }],
    ['configuration.pin', certificateRequest({ pin: 123456 })],
    ['digest', signRequest({ digest: undefined })],
    ['digest', signRequest({ digest: 5 })],
    ['digest', signRequest({ digest: '' })],
    ['digest', signRequest({ digest: 'no base64!' })],
    ['digest', signRequest({ digest: bytes(32).slice(0, -1) })],
    ['digest', signRequest({ digest: bytes(20) })],
    ['digest', plain(5, 48)],
    ['digest', pss({ SaltLength: -1, Hash: 0 }, 20)],
    ['message', signRequest({ message: bytes(3) })],
    ['message', signRequest({ message: null })],
    ['signerOptsType', signRequest({ signerOptsType: 'rsa.OAEPOptions' })],
    ['signerOpts', signRequest({ signerOpts: { SaltLength: -1, Hash: 5 } })],
    ['signerOpts', signRequest({ signerOpts: '{' })],
    ['signerOpts', signRequest({ signerOpts: '5' })],
    ['signerOpts', pss({ SaltLength: 20, Hash: 5 }, 32)],
    ['signerOpts', pss({ SaltLength: -2, Hash: 5 }, 32)],
    ['signerOpts', pss({ SaltLength: '0', Hash: 5 }, 32)],
    ['signerOpts', pss({ SaltLength: -1, Hash: 3 }, 20)],
    ['signerOpts', plain(3, 20)],
    ['signerOpts', plain('"5"', 32)],
  ])('for the field %j: %j', (field, request) => {
    const text = typeof request === 'string' ? request : JSON.stringify(request)
    const decoding = (): unknown => decodeSignRequest(text)
    expect(decoding).toThrow(SignRequestError)
    expect(decoding).toThrow(expect.objectContaining({ field }))
    expect(decoding).not.toThrow(/1234/)
  })
})
