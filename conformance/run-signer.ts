import { expect } from 'vitest'
import type { SignatureScheme } from '../packages/core/src/credential/signing-key.ts'
import { decodeBase64Bytes } from '../packages/core/src/formats/base64.ts'
import { Secret } from '../packages/core/src/secret/secret.ts'
import { decodeSignRequest } from '../packages/core/src/signer/kit/decode-sign-request.ts'
import {
  encodeCertificateRequest,
  encodeSignRequest,
  type SignerPayload,
  type SignerProtocol,
} from '../packages/core/src/signer/signer-protocol.ts'
import { AnswerReader } from '../packages/core/src/sources/signer-exchange.ts'
import type { CaseHead } from './case.ts'
import { attempt, type ExpectedError, expectFailure, Failure } from './outcome.ts'

/** One message between a client and an external signer. */
export interface SignerCase extends CaseHead {
  readonly kind: 'signer'
  readonly given: {
    readonly payload: SignerPayload
    readonly protocol?: SignerProtocol
    /** The config of the auth-provider. */
    readonly configuration?: Readonly<Record<string, string>>
    readonly scheme?: SignatureScheme
    /** Base64; for Ed25519 of the message. */
    readonly digest?: string
    /** The output of the signer: an object is printed on one line, a string unchanged. */
    readonly answer?: object | string
  }
  /** The expected request in the signer's variable, with its members in this order. */
  readonly request?: object
  /** The parsed result, in base64. */
  readonly expect?: { readonly bytes: string } | ExpectedError
}

export async function runSignerCase(data: SignerCase): Promise<void> {
  if (data.request !== undefined) expectRequest(data, data.request)
  if (data.expect !== undefined) await expectAnswer(data, data.expect)
}

function expectRequest({ given }: SignerCase, request: object): void {
  const { payload, protocol = 'specification', configuration = {}, scheme, digest = '' } = given
  const parameters = new Map(
    Object.entries(configuration).map(([name, value]) => [name, new Secret(value)]),
  )
  const dialect = { protocol, parameters }
  const bytes = decodeBase64Bytes(digest) ?? new Uint8Array()
  const text =
    payload === 'certificate' || scheme === undefined
      ? encodeCertificateRequest(dialect)
      : encodeSignRequest(dialect, { scheme, digest: bytes, message: bytes })
  expect(text).toBe(JSON.stringify(request))
  // The reverse direction: a signer that uses the kit must understand the request.
  const read = decodeSignRequest(text)
  expect(read.configuration).toEqual(configuration)
  expect(read.is).toBe(payload === 'certificate' ? 'certificate' : 'sign')
  if (read.is !== 'certificate') {
    expect([read.scheme, Buffer.from(read.digest).toString('base64')]).toEqual([scheme, digest])
  }
}

async function expectAnswer(
  { given }: SignerCase,
  expected: { readonly bytes: string } | ExpectedError,
): Promise<void> {
  const { payload, protocol = 'specification', answer = '' } = given
  const outcome = await attempt(async () => {
    const reader = new AnswerReader({ payload, protocol, signer: '"signer"' }, 65_536)
    const text = typeof answer === 'string' ? answer : `${JSON.stringify(answer)}\n`
    const messages = [...reader.push(Buffer.from(text)), ...reader.end()]
    const [message] = messages
    if (message?.is !== 'answer' || messages.length !== 1) throw new Error('no answer')
    return Buffer.from(message.bytes).toString('base64')
  })
  if ('error' in expected) expectFailure(outcome, expected)
  else if (outcome instanceof Failure) throw new Error(`${outcome.code}: ${outcome.message}`)
  else expect(outcome).toBe(expected.bytes)
}
