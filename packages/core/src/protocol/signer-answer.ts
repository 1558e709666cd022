import { SignerAnswerError } from '../errors/index.ts'
import { decodeBytes } from './base64.ts'
import { type Fields, nameType } from './plain-object.ts'
import type { SignerProtocol } from './signer-request.ts'
import {
  SIGNER_API_VERSION,
  SIGNER_ERROR_KIND,
  SIGNER_KINDS,
  USER_PROMPT_KIND,
} from './signer-wire.ts'

/** What a signer was asked for, and so what it must answer with. */
export type SignerWish = 'certificate' | 'signature'

/** One object that a signer sent. */
export type SignerMessage =
  | { readonly is: 'answer'; readonly bytes: Uint8Array }
  /** For the person; more will come. As the signer wrote it: clean it before showing. */
  | { readonly is: 'prompt'; readonly text: string }
  /** There will be no answer. As the signer wrote it too. */
  | { readonly is: 'failure'; readonly text: string }

export interface SignerAsked {
  readonly wish: SignerWish
  readonly protocol: SignerProtocol
  /** The program or socket, for messages. */
  readonly signer: string
}

/**
 * Reads one object of a signer.
 *
 * Unknown fields are ignored; everything else must be as it was asked for. What came is a secret until it was
 * read: no part of it reaches an error, but a kind or version that looks like one.
 *
 * @throws {SignerAnswerError} Names what was expected.
 */
export function readSignerMessage(sent: Fields, asked: SignerAsked): SignerMessage {
  const expected = expectedKind(asked)
  checkVersion(sent, asked)
  switch (sent['kind']) {
    case expected:
      return { is: 'answer', bytes: readBytes(sent, asked) }
    case USER_PROMPT_KIND:
      return { is: 'prompt', text: readText(sent, 'prompt', asked) }
    case SIGNER_ERROR_KIND:
      return { is: 'failure', text: readText(sent, 'message', asked) }
    default:
      throw wrong(asked, `${describeKind(sent['kind'])}, where ${expected} was expected`)
  }
}

/** The kind that the answer must have. */
export function expectedKind({ wish, protocol }: SignerAsked): string {
  const { certificateResponse, signResponse } = SIGNER_KINDS[protocol]
  return wish === 'certificate' ? certificateResponse : signResponse
}

function checkVersion(sent: Fields, asked: SignerAsked): void {
  const got = sent['apiVersion']
  if (got === SIGNER_API_VERSION) return
  const isMissing = got === undefined || got === null || got === ''
  const what = isMissing ? 'without an apiVersion' : 'in another apiVersion'
  throw wrong(asked, `${what}, where ${SIGNER_API_VERSION} was expected`)
}

/** The words of the other protocol are the likeliest mistake, and have a remedy of their own. */
function describeKind(kind: unknown): string {
  if (kind === undefined || kind === null || kind === '') return 'without a kind'
  const isWord = typeof kind === 'string' && /^[A-Za-z]{1,40}$/.test(kind)
  return isWord ? `with the kind ${kind}` : 'with another kind'
}

function readBytes(sent: Fields, asked: SignerAsked): Uint8Array {
  const { wish } = asked
  const encoded = readText(sent, wish, asked)
  const bytes = decodeBytes(encoded)
  if (bytes === undefined) throw wrong(asked, `with a ${wish} that is not standard base64`)
  if (bytes.length === 0) throw wrong(asked, `with an empty ${wish}`)
  return bytes
}

function readText(sent: Fields, field: string, asked: SignerAsked): string {
  const value = Object.hasOwn(sent, field) ? sent[field] : undefined
  if (typeof value === 'string' && value !== '') return value
  if (value === undefined || value === '') {
    throw wrong(asked, `with an empty ${field}, where text was expected`)
  }
  throw wrong(asked, `with ${nameType(value)} as ${field}, where text was expected`)
}

function wrong(asked: SignerAsked, what: string): SignerAnswerError {
  const { reference2020, specification } = SIGNER_KINDS
  const [other, value] =
    asked.protocol === 'specification' ? [reference2020, '2020'] : [specification, 'v1alpha1']
  const isOther = Object.values(other).some((kind) => what.startsWith(`with the kind ${kind},`))
  return new SignerAnswerError(asked.signer, `answered ${what}`, {
    ...(isOther && { hint: `Set signerProtocol: "${value}" in the config of the auth-provider.` }),
  })
}
