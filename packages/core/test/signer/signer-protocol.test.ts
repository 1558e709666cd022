import { describe, expect, it } from 'vitest'
import {
  SIGNER_API_VERSION as apiVersion,
  readSignerMessage,
  type SignerAsked,
} from '../../src/signer/signer-protocol.ts'

const ASKED: SignerAsked = { wish: 'signature', protocol: 'specification', signer: '"s"' }
const OLD: SignerAsked = { ...ASKED, protocol: 'reference2020' }
const good = { apiVersion, kind: 'SignResponse', signature: 'AAEC' }

describe('a message of a signer', () => {
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
  ])('is read: %s', (_, sent, expected) => {
    expect(readSignerMessage(sent, ASKED)).toMatchObject(expected)
  })

  it('has the kinds of 2020 where those are spoken', () => {
    const sent = { ...good, kind: 'ExternalSigner' }
    expect(readSignerMessage(sent, OLD)).toMatchObject({ is: 'answer' })
    const certificate = { apiVersion, kind: 'ExternalPublicKey', certificate: 'AA==' }
    expect(readSignerMessage(certificate, { ...OLD, wish: 'certificate' }).is).toBe('answer')
  })

  it.each([
    ['no version', { ...good, apiVersion: undefined }, /without an apiVersion, where external-/],
    ['another version', { ...good, apiVersion: 'v2' }, /in another apiVersion, where external-/],
    ['a version in a list', { ...good, apiVersion: [apiVersion] }, /in another apiVersion/],
    ['no kind', { ...good, kind: null }, /without a kind, where SignResponse was expected/],
    ['a kind that is none', { ...good, kind: 7 }, /with another kind, where SignResponse/],
    ['a kind that is long', { ...good, kind: 'x'.repeat(99) }, /with another kind/],
    ['another kind', { ...good, kind: 'SignRequest' }, /the kind SignRequest, where SignResp/],
    ['an empty signature', { ...good, signature: '' }, /with an empty signature/],
    ['a signature of line breaks', { ...good, signature: '\n' }, /with an empty signature/],
    ['no signature', { ...good, signature: undefined }, /with an empty signature/],
    ['a number', { ...good, signature: 7 }, /with a number as signature, where text/],
    ['no text', { ...good, signature: null }, /with nothing as signature/],
    [
      'base64 of the web',
      { ...good, signature: 'A-_=' },
      /a signature that is not standard base64/,
    ],
    ['base64 without its end', { ...good, signature: 'AAA' }, /not standard base64/],
    ['spaces in base64', { ...good, signature: 'AA EC' }, /not standard base64/],
    ['an error without words', { apiVersion, kind: 'SignerError' }, /with an empty message/],
    ['an empty prompt', { apiVersion, kind: 'UserPrompt', prompt: '' }, /with an empty prompt/],
  ])('is refused for %s', (_, sent, message) => {
    expect(() => readSignerMessage(sent, ASKED)).toThrow(message)
  })

  it('in the words of the other protocol says how to change that', () => {
    const hintOf = (sent: object, asked: SignerAsked): unknown => {
      try {
        return readSignerMessage({ ...sent }, asked)
      } catch (error) {
        return (error as { hint: string }).hint
      }
    }
    expect(hintOf({ ...good, kind: 'ExternalSigner' }, ASKED)).toContain('signerProtocol: "2020"')
    expect(hintOf(good, OLD)).toContain('signerProtocol: "v1alpha1"')
    expect(hintOf({ ...good, kind: 'Other' }, ASKED)).not.toContain('signerProtocol')
  })
})
