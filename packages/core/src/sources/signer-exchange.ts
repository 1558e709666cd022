import { SignerFailedError, SignerResponseInvalidError } from '../errors/index.ts'
import { JsonError, parseJson } from '../formats/json.ts'
import { type Fields, isFields } from '../formats/plain-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChannelEnd } from '../ports/signer-channel.ts'
import {
  type ExpectedResponse,
  expectedKind,
  readSignerMessage,
  type SignerMessage,
} from '../signer/signer-protocol.ts'
import { oneLine, type SignerScrubber } from './signer-secrets.ts'

/** How a request ended. */
export type ExchangeOutcome = { readonly is: 'answer'; readonly bytes: Uint8Array } | Unanswered

/** Why a request got no answer. */
type Unanswered =
  /** The signer sent an error, and keeps running. */
  | { readonly is: 'failure'; readonly text: string }
  /** Its output is not a valid answer. */
  | { readonly is: 'wrong'; readonly error: SignerResponseInvalidError }
  /** It ended without an answer. */
  | { readonly is: 'gone'; readonly end: ChannelEnd; readonly hasOutput: boolean }
  | { readonly is: 'timed-out'; readonly limitMs: number; readonly printed: number }
  | { readonly is: 'aborted'; readonly reason: unknown }

/** The limits of one request to a signer. */
export interface ExchangeLimits {
  readonly timeoutMs: number
  /** The timeout of requests that can prompt the user. */
  readonly interactiveTimeoutMs: number
  readonly outputBytes: number
}

interface ExchangeInit {
  readonly expected: ExpectedResponse
  readonly limits: ExchangeLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Whether the signer can prompt the user from the start. A prompt from the signer has the same effect. */
  readonly interactive: boolean
  readonly onPrompt: (text: string) => void
}

/** One request to a signer, from sending it until it is answered or has failed. */
export class SignerExchange {
  readonly outcome: Promise<ExchangeOutcome>
  readonly #init: ExchangeInit
  readonly #reader: AnswerReader
  #limitMs: number
  #stopTimer: () => void
  #settle: (outcome: ExchangeOutcome) => void = () => {}
  #isSettled = false

  constructor(init: ExchangeInit) {
    const { expected, limits, signal, interactive } = init
    this.#init = init
    this.#reader = new AnswerReader(expected, limits.outputBytes)
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#limitMs = interactive ? limits.interactiveTimeoutMs : limits.timeoutMs
    this.#stopTimer = this.#startTimer(this.#limitMs)
    if (signal.aborted) this.abort(signal.reason)
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  push(bytes: Uint8Array): void {
    if (this.#isSettled) return
    this.#read(() => this.#reader.push(bytes))
  }

  /** Handles the end of the channel, after which the output may be complete. */
  end(end: ChannelEnd): void {
    if (this.#isSettled) return
    const hasOutput = this.#reader.size > 0
    // A program that failed has not answered, whatever it printed before.
    if (end.isClean) this.#read(() => this.#reader.end())
    this.#finish({ is: 'gone', end, hasOutput })
  }

  abort(reason: unknown): void {
    this.#finish({ is: 'aborted', reason })
  }

  readonly #onAbort = (): void => this.abort(this.#init.signal.reason)

  #read(take: () => readonly SignerMessage[]): void {
    try {
      for (const message of take()) this.#handle(message)
    } catch (error) {
      this.#finish({ is: 'wrong', error: error as SignerResponseInvalidError })
    }
  }

  #handle(message: SignerMessage): void {
    if (message.is === 'prompt') {
      this.#extendTimeout()
      this.#init.onPrompt(message.text)
    } else this.#finish(message)
  }

  /** Gives the user time to react to a prompt. Only once, so that prompts cannot extend the timeout forever. */
  #extendTimeout(): void {
    const { interactiveTimeoutMs } = this.#init.limits
    if (this.#limitMs >= interactiveTimeoutMs) return
    this.#limitMs = interactiveTimeoutMs
    this.#stopTimer()
    this.#stopTimer = this.#startTimer(interactiveTimeoutMs)
  }

  #startTimer(milliseconds: number): () => void {
    return this.#init.clock.afterRef(milliseconds, () => {
      this.#finish({ is: 'timed-out', limitMs: this.#limitMs, printed: this.#reader.size })
    })
  }

  #finish(outcome: ExchangeOutcome): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#stopTimer()
    this.#init.signal.removeEventListener('abort', this.#onAbort)
    this.#settle(outcome)
  }
}

/**
 * Parses the output of a signer for one request into messages.
 *
 * One JSON object per line. The last object may span several lines if the output ends after it, as with a program that
 * answers once and exits. The output is treated as a secret and never quoted.
 */
export class AnswerReader {
  readonly #expected: ExpectedResponse
  readonly #limit: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  /** Pieces of the incomplete object. */
  #pieces: string[] = []
  /** Whether that object spans several lines, and so ends with the output. */
  #hasLines = false
  #size = 0

  /** @param limit The maximum number of bytes for one request, including prompts. */
  constructor(expected: ExpectedResponse, limit: number) {
    this.#expected = expected
    this.#limit = limit
  }

  /** The number of bytes printed so far. */
  get size(): number {
    return this.#size
  }

  /**
   * Returns the messages that these bytes complete.
   *
   * @throws {SignerResponseInvalidError} `ERR_SIGNER_RESPONSE_INVALID` as soon as the output cannot become a valid answer.
   */
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

  /**
   * Returns the message that the end of the output completes.
   *
   * @throws {SignerResponseInvalidError} `ERR_SIGNER_RESPONSE_INVALID` if the output ends in the middle of an object.
   */
  end(): readonly SignerMessage[] {
    this.#add(this.#decode())
    if (this.#pieces.length === 0) return []
    const parsed = this.#takeObject()
    if (parsed !== undefined) return [readSignerMessage(parsed, this.#expected)]
    throw this.#wrong(
      `printed broken or incomplete JSON, but ${expectedKind(this.#expected)} was expected`,
    )
  }

  /** Throws at once if the text does not begin an object. */
  #add(piece: string): void {
    const isFirst = this.#pieces.length === 0
    const text = isFirst ? piece.trimStart() : piece
    if (text === '') return
    if (isFirst && !text.startsWith('{')) {
      throw this.#wrong(
        `printed something that is not a JSON object, but ${expectedKind(this.#expected)} was expected`,
      )
    }
    this.#pieces.push(text)
  }

  #endLine(): readonly SignerMessage[] {
    if (this.#pieces.length === 0) return []
    const parsed = this.#hasLines ? undefined : this.#takeObject()
    if (parsed !== undefined) return [readSignerMessage(parsed, this.#expected)]
    this.#pieces.push('\n')
    this.#hasLines = true
    return []
  }

  /** Returns the collected object and resets the collection, or undefined if it is incomplete. */
  #takeObject(): Fields | undefined {
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

  /** Nothing may follow the answer: it would be taken for the answer to the next request. */
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

  #wrong(what: string): SignerResponseInvalidError {
    return new SignerResponseInvalidError(this.#expected.signer, what, {
      hint: 'Make the signer print only its answer to standard output, one JSON object per line, and everything else to standard error.',
    })
  }
}

/** How much of the end of standard error is shown. */
const MAX_SHOWN_STDERR = 4096
const MAX_SHOWN_REASON = 500

interface FailureContext {
  readonly expected: ExpectedResponse
  readonly scrub: SignerScrubber
  readonly tookMs: number
  /** The last part of standard error, as printed. */
  readonly stderrTail: string
}

/** Returns the error for a request without an answer. */
export function outcomeError(
  outcome: Unanswered,
  { expected, scrub, tookMs, stderrTail }: FailureContext,
): unknown {
  const { signer } = expected
  // Cut after scrubbing: the scrubber does not recognise half a secret.
  const tail = scrub(stderrTail).trim().slice(-MAX_SHOWN_STDERR)
  const facts = { tookMs, ...(tail !== '' && { stderrTail: tail }) }
  switch (outcome.is) {
    case 'aborted':
      return outcome.reason
    case 'wrong':
      return outcome.error
    case 'failure': {
      // As kubecred/signer writes it: the reason in the first line, the hint in the others.
      const [first = '', ...rest] = scrub(outcome.text).trim().split('\n')
      const hint = oneLine(rest.join(' '), MAX_SHOWN_REASON)
      return new SignerFailedError(
        signer,
        `returned no ${expected.payload}: ${withoutFullStop(oneLine(first, MAX_SHOWN_REASON))}`,
        { ...facts, ...(hint !== '' && { hint }) },
      )
    }
    case 'timed-out':
      return new SignerFailedError(
        signer,
        `did not answer within ${seconds(outcome.limitMs)} and was stopped${describePrinted(outcome.printed)}`,
        {
          ...facts,
          hint: 'Confirm sooner, or raise policy.interactiveTimeoutMs or policy.pluginTimeoutMs.',
        },
      )
    case 'gone': {
      const { how, exitStatus, isClean } = outcome.end
      if (isClean) {
        return new SignerResponseInvalidError(
          signer,
          `${how} without an answer, but ${expectedKind(expected)} was expected`,
        )
      }
      return new SignerFailedError(signer, `${how} and returned no ${expected.payload}`, {
        ...facts,
        exitStatus,
      })
    }
  }
}

function describePrinted(bytes: number): string {
  return bytes === 0 ? '' : `; the ${bytes} bytes it printed are not a complete line with an answer`
}

/** Messages end without a full stop. */
function withoutFullStop(text: string): string {
  return text.replace(/[.\s]+$/, '') || 'no reason given'
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
