import { SignerResponseInvalidError } from '../../../packages/core/src/errors/index.ts'
import { JsonError, parseJson } from '../../../packages/core/src/formats/json.ts'
import { isFields } from '../../../packages/core/src/formats/plain-object.ts'
import {
  type ExpectedResponse,
  readSignerMessage,
} from '../../../packages/core/src/signer/signer-protocol.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

const EXPECTED: readonly ExpectedResponse[] = (['certificate', 'signature'] as const).flatMap(
  (payload) =>
    (['specification', 'reference2020'] as const).map((protocol) => ({
      payload,
      protocol,
      signer: '"s"',
    })),
)
/** The beginning of each secret in the corpus; those in base64 are the payloads. */
const MARKS = ['marked-', 'bWFya2Vk', 'LS0tLS1CRUdJ']

/** One line of a signer. The references are `JSON.parse`, and Node's decoder of base64. */
export const signerAnswer: FuzzTarget = {
  name: 'signer-answer',
  about: 'any line is a message, or an error that quotes nothing of it',
  async open() {
    return {
      corpus: readCorpus('signer-answer'),
      words: ['"signature":', '"certificate":', '"prompt":', 'UserPrompt', 'SignerError', '=='],
      check(input) {
        const text = input.toString()
        const parsed = resultOf(() => parseJson(text))
        const isJson = 'value' in resultOf(() => JSON.parse(text))
        must(isJson === 'value' in parsed, 'JSON.parse disagrees whether this is JSON')
        if ('error' in parsed) {
          if (!(parsed.error instanceof JsonError)) throw parsed.error
          mustNotQuote(parsed.error)
          return
        }
        const sent = parsed.value
        if (isFields(sent)) for (const expected of EXPECTED) checkMessage(sent, expected)
      },
    }
  },
}

function checkMessage(sent: Readonly<Record<string, unknown>>, expected: ExpectedResponse): void {
  const read = resultOf(() => readSignerMessage(sent, expected))
  if ('error' in read) {
    if (!(read.error instanceof SignerResponseInvalidError)) throw read.error
    mustNotQuote(read.error)
    return
  }
  if (read.value.is !== 'answer') return
  const encoded = String(sent[expected.payload])
  const bytes = Buffer.from(read.value.bytes)
  must(bytes.length > 0, 'the answer is empty')
  must(bytes.equals(Buffer.from(encoded, 'base64')), 'Node decodes other bytes')
}

function mustNotQuote({ message }: Error): void {
  must(!MARKS.some((mark) => message.includes(mark)), 'an error quotes the line')
}
