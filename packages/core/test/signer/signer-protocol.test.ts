import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/secret/secret.ts'
import {
  SIGNER_API_VERSION as apiVersion,
  type ExpectedResponse,
  encodeCertificateRequest,
  encodeSignRequest,
  readSignerMessage,
} from '../../src/signer/signer-protocol.ts'

const EXPECTED: ExpectedResponse = {
  payload: 'signature',
  protocol: 'specification',
  signer: '"s"',
}
const OLD: ExpectedResponse = { ...EXPECTED, protocol: 'reference2020' }
const good = { apiVersion, kind: 'SignResponse', signature: 'AAEC' }

describe('a message from a signer', () => {
  it.each([
    ['a signature', good, { is: 'answer', bytes: Uint8Array.of(0, 1, 2) }],
    ['unknown fields', { ...good, id: 7, certificate: 7 }, { is: 'answer' }],
    ['line breaks in base64', { ...good, signature: 'AA\r\nEC\n' }, { is: 'answer' }],
    [
      'a prompt',
      { apiVersion, kind: 'UserPrompt', prompt: 'Touch' },
      { is: 'prompt', text: 'Touch' },
    ],
    [
      'a failure',
      { apiVersion, kind: 'SignerError', message: 'locked' },
      { is: 'failure', text: 'locked' },
    ],
  ])('is accepted: %s', (_, sent, expected) => {
    expect(readSignerMessage(sent, EXPECTED)).toMatchObject(expected)
  })

  it('has other kinds in the protocol of 2020', () => {
    const sent = { ...good, kind: 'ExternalSigner' }
    expect(readSignerMessage(sent, OLD)).toMatchObject({ is: 'answer' })
    const certificate = { apiVersion, kind: 'ExternalPublicKey', certificate: 'AA==' }
    expect(readSignerMessage(certificate, { ...OLD, payload: 'certificate' }).is).toBe('answer')
  })

  it.each([
    ['no version', { ...good, apiVersion: undefined }, /without an apiVersion, but external-/],
    ['another version', { ...good, apiVersion: 'v2' }, /in another apiVersion, but external-/],
    ['a version in a list', { ...good, apiVersion: [apiVersion] }, /in another apiVersion/],
    ['an empty version', { ...good, apiVersion: '' }, /without an apiVersion/],
    ['null as the version', { ...good, apiVersion: null }, /without an apiVersion/],
    ['an empty kind', { ...good, kind: '' }, /without a kind/],
    ['a kind that is left out', { apiVersion, signature: 'AAEC' }, /without a kind/],
    ['a kind in a list', { ...good, kind: ['SignResponse'] }, /with another kind/],
    ['no kind', { ...good, kind: null }, /without a kind, but SignResponse was expected/],
    ['a kind that is a number', { ...good, kind: 7 }, /with another kind, but SignResponse/],
    ['a kind that is too long', { ...good, kind: 'x'.repeat(99) }, /with another kind/],
    ['another kind', { ...good, kind: 'SignRequest' }, /the kind SignRequest, but SignResp/],
    ['an empty signature', { ...good, signature: '' }, /with an empty signature/],
    ['a signature of line breaks', { ...good, signature: '\n' }, /with an empty signature/],
    ['no signature', { ...good, signature: undefined }, /with an empty signature/],
    ['a number', { ...good, signature: 7 }, /with a number as signature, but a string/],
    ['null', { ...good, signature: null }, /with null as signature/],
    ['URL-safe base64', { ...good, signature: 'A-_=' }, /a signature that is not standard base64/],
    ['base64 without padding', { ...good, signature: 'AAA' }, /not standard base64/],
    ['spaces in base64', { ...good, signature: 'AA EC' }, /not standard base64/],
    ['an error without a message', { apiVersion, kind: 'SignerError' }, /with an empty message/],
    ['an empty prompt', { apiVersion, kind: 'UserPrompt', prompt: '' }, /with an empty prompt/],
  ])('is rejected for %s', (_, sent, message) => {
    expect(() => readSignerMessage(sent, EXPECTED)).toThrow(message)
  })

  it('with a kind of the other protocol is rejected with a hint to set signerProtocol', () => {
    const hintOf = (sent: object, expected: ExpectedResponse): unknown => {
      try {
        return readSignerMessage({ ...sent }, expected)
      } catch (error) {
        return (error as { hint: string }).hint
      }
    }
    expect(hintOf({ ...good, kind: 'ExternalSigner' }, EXPECTED)).toContain(
      'signerProtocol: "2020"',
    )
    expect(hintOf(good, OLD)).toContain('signerProtocol: "v1alpha1"')
    expect(hintOf({ ...good, kind: 'Other' }, EXPECTED)).not.toContain('signerProtocol')
  })
})

describe('a request to a signer', () => {
  const parameters = new Map(
    ['slot', '__proto__', 'pin', 'a'].map((name) => [name, new Secret(`${name}!`)]),
  )
  const configuration = '{"__proto__":"__proto__!","a":"a!","pin":"pin!","slot":"slot!"}'
  const toSign = { digest: Uint8Array.of(1), message: Uint8Array.of(2) }

  it('for the certificate has every parameter, sorted by name', () => {
    const request = encodeCertificateRequest({ protocol: 'specification', parameters })
    expect(request).toBe(
      `{"apiVersion":"${apiVersion}","kind":"CertificateRequest","configuration":${configuration}}`,
    )
    const old = encodeCertificateRequest({ protocol: 'reference2020', parameters })
    expect(JSON.parse(old).kind).toBe('Certificate')
  })

  it('for a signature has the digest and the options of Go, and the message only if wanted', () => {
    const dialect = { protocol: 'specification', parameters } as const
    const scheme = 'ecdsa_secp256r1_sha256'
    const request = encodeSignRequest(dialect, { scheme, ...toSign })
    expect(request).toContain(`"digest":"AQ==","configuration":${configuration},"signerOptsType"`)
    expect(JSON.parse(request)).not.toHaveProperty('message')
    expect(JSON.parse(encodeSignRequest(dialect, { scheme, ...toSign }, true)).message).toBe('Ag==')
  })

  it('for an Ed25519 signature has the message as the digest', () => {
    const dialect = { protocol: 'reference2020', parameters } as const
    const request = JSON.parse(encodeSignRequest(dialect, { scheme: 'ed25519', ...toSign }))
    expect([request.kind, request.digest]).toEqual(['Sign', 'Ag=='])
  })
})
