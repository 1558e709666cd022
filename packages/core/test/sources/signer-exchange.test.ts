import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  SIGNER_API_VERSION as apiVersion,
  type SignerMessage,
} from '../../src/signer/signer-protocol.ts'
import { AnswerReader } from '../../src/sources/signer-exchange.ts'

const EXPECTED = { payload: 'signature', protocol: 'specification', signer: '"s"' } as const
const ANSWER = { apiVersion, kind: 'SignResponse', signature: 'AAEC' }
const PROMPT = { apiVersion, kind: 'UserPrompt', prompt: 'Berühren Sie das Gerät ☝' }

/** Returns all messages of the pieces and of the end. */
function read(pieces: readonly (string | Uint8Array)[], limit = 65_536): SignerMessage[] {
  const reader = new AnswerReader(EXPECTED, limit)
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  return [...bytes.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

function thrown(text: string | Uint8Array, limit?: number): unknown {
  try {
    return read([text], limit)
  } catch (error) {
    return error
  }
}

const line = (object: unknown): string => `${JSON.stringify(object)}\n`

describe('the output of a signer', () => {
  const text = `\r\n${line(PROMPT)}  ${line(PROMPT)}\n${JSON.stringify(ANSWER, undefined, 2)}`

  it('is parsed into prompts and an answer, however it is split', () => {
    const whole = read([text])
    expect(whole.map(({ is }) => is)).toEqual(['prompt', 'prompt', 'answer'])
    const bytes = Buffer.from(text)
    const places = fc.array(fc.nat(bytes.length), { maxLength: 20 })
    fc.assert(
      fc.property(places, (cuts) => {
        const sorted = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const pieces = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
        expect(read(pieces)).toEqual(whole)
      }),
    )
  })

  it('is parsed as soon as a line is complete', () => {
    const reader = new AnswerReader(EXPECTED, 1000)
    expect(reader.push(Buffer.from(JSON.stringify(ANSWER)))).toEqual([])
    expect(reader.push(Buffer.from('\r\n'))).toMatchObject([{ is: 'answer' }])
  })

  it('is parsed quickly even byte by byte', () => {
    const long = line({ ...ANSWER, more: 'x'.repeat(300_000) })
    const reader = new AnswerReader(EXPECTED, 1024 * 1024)
    const messages = [...Buffer.from(long)].flatMap((byte) => reader.push(Uint8Array.of(byte)))
    expect(messages).toHaveLength(1)
  })

  it('may be empty', () => {
    expect(read([])).toEqual([])
    expect(read(['\n \r\n'])).toEqual([])
  })

  it.each([
    ['text', 'Please touch your device', /not a JSON object, but SignResponse was expected/],
    ['text before the answer', `ok\n${line(ANSWER)}`, /not a JSON object/],
    ['text after the answer', `${line(ANSWER)}ok`, /not a JSON object/],
    ['a list', '[{}]', /not a JSON object/],
    ['two answers', line(ANSWER) + line(ANSWER), /more than one answer/],
    ['an answer and half another', `${line(ANSWER)}{"api`, /more than one answer/],
    ['a prompt after the answer', line(ANSWER) + line(PROMPT), /more than one answer/],
    ['two answers on one line', `${JSON.stringify(ANSWER)}${line(ANSWER)}`, /broken or incomplete/],
    ['half an answer', JSON.stringify(ANSWER).slice(0, -4), /broken or incomplete/],
    ['bytes that are not text', Uint8Array.of(0x7b, 0xff), /not UTF-8/],
    ['half a character at the end', Uint8Array.of(0x7b, 0xe2, 0x98), /not UTF-8/],
  ])('is rejected: %s', (_, printed, message) => {
    expect(thrown(printed)).toMatchObject({
      code: 'ERR_SIGNER_RESPONSE_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('is limited, including prompts', () => {
    const prompts = line(PROMPT).repeat(10)
    expect(thrown(prompts + line(ANSWER), Buffer.byteLength(prompts))).toMatchObject({
      message: expect.stringMatching(/printed more than \d+ bytes for one request/),
    })
    expect(thrown(prompts + line(ANSWER))).toHaveLength(11)
  })

  it('never appears in an error', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), (secret) => {
        const error = thrown(`{"x":${secret}`)
        expect(String(error)).not.toContain(secret)
      }),
    )
  })
})
