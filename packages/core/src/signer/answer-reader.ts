import { SignerAnswerError } from '../errors/index.ts'
import { JsonError, parseJson } from '../protocol/parse-json.ts'
import { type Fields, isFields } from '../protocol/plain-object.ts'
import {
  expectedKind,
  readSignerMessage,
  type SignerAsked,
  type SignerMessage,
} from '../protocol/signer-answer.ts'

/**
 * Turns what a signer prints after one request into messages.
 *
 * One JSON object per line. A last object that goes over several lines is whole when the output ends: that is how
 * a program prints which answers once and exits. What was printed is a secret and is never quoted.
 */
export class AnswerReader {
  readonly #asked: SignerAsked
  readonly #limit: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  /** Pieces of the object that is not whole yet. */
  #pieces: string[] = []
  /** Whether that object has more than one line: then it is whole when the output ends. */
  #hasLines = false
  #size = 0

  /** @param limit The most bytes that may be printed for one request, prompts included. */
  constructor(asked: SignerAsked, limit: number) {
    this.#asked = asked
    this.#limit = limit
  }

  /** How much has been printed so far. */
  get size(): number {
    return this.#size
  }

  /** @throws {SignerAnswerError} For what cannot become an answer, whatever follows. */
  push(bytes: Uint8Array): readonly SignerMessage[] {
    this.#size += bytes.length
    if (this.#size > this.#limit) {
      throw this.#wrong(`printed more than ${this.#limit} bytes for one request`)
    }
    const messages: SignerMessage[] = []
    const [first = '', ...lines] = this.#decode(bytes).split('\n')
    this.#add(first)
    for (const line of lines) {
      messages.push(...this.#endLine())
      this.#add(line)
    }
    return this.#checkOrder(messages)
  }

  /** @throws {SignerAnswerError} When the output ends in the middle of something. */
  end(): readonly SignerMessage[] {
    this.#add(this.#decode())
    if (this.#pieces.length === 0) return []
    const parsed = this.#takeWhole()
    if (parsed !== undefined) return [readSignerMessage(parsed, this.#asked)]
    throw this.#wrong(
      `printed JSON that is broken or not whole, where ${expectedKind(this.#asked)} was expected`,
    )
  }

  /** Fails at once for what is no object: nothing that follows could make it one. */
  #add(piece: string): void {
    const isFirst = this.#pieces.length === 0
    const text = isFirst ? piece.trimStart() : piece
    if (text === '') return
    if (isFirst && !text.startsWith('{')) {
      throw this.#wrong(
        `printed something that is no JSON object, where ${expectedKind(this.#asked)} was expected`,
      )
    }
    this.#pieces.push(text)
  }

  #endLine(): readonly SignerMessage[] {
    if (this.#pieces.length === 0) return []
    const parsed = this.#hasLines ? undefined : this.#takeWhole()
    if (parsed !== undefined) return [readSignerMessage(parsed, this.#asked)]
    this.#pieces.push('\n')
    this.#hasLines = true
    return []
  }

  /** The object, if it is one; then the next may begin. */
  #takeWhole(): Fields | undefined {
    try {
      const parsed = parseJson(this.#pieces.join(''))
      if (!isFields(parsed)) return undefined
      this.#pieces = []
      this.#hasLines = false
      return parsed
    } catch (error) {
      if (error instanceof JsonError) return undefined
      throw error
    }
  }

  /** After the answer there is nothing: a second one would be taken for the answer to the next request. */
  #checkOrder(messages: readonly SignerMessage[]): readonly SignerMessage[] {
    const end = messages.findIndex(({ is }) => is !== 'prompt')
    if (end !== -1 && (end < messages.length - 1 || this.#pieces.length > 0)) {
      throw this.#wrong('printed more than one answer to one request')
    }
    return messages
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return bytes ? this.#decoder.decode(bytes, { stream: true }) : this.#decoder.decode()
    } catch {
      throw this.#wrong('printed bytes that are not UTF-8')
    }
  }

  #wrong(what: string): SignerAnswerError {
    return new SignerAnswerError(this.#asked.signer, what, {
      hint: 'Make the signer print only its answer to standard output, one JSON object per line, and everything else to standard error.',
    })
  }
}
