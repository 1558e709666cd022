import { SignerFailedError, SignerResponseInvalidError } from '../errors/index.ts'
import { JsonError, parseJson } from '../formats/json.ts'
import { type Fields, isFields } from '../formats/plain-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChannelEnd } from '../ports/signer-channel.ts'
import {
  expectedKind,
  readSignerMessage,
  type SignerAsked,
  type SignerMessage,
} from '../signer/signer-protocol.ts'
import { oneLine, type SignerScrubber } from './signer-secrets.ts'

/** What became of one request. */
export type ExchangeOutcome = { readonly is: 'answer'; readonly bytes: Uint8Array } | Unanswered

/** Why a request has no answer. */
type Unanswered =
  /** The signer says why there is no answer, and stays. */
  | { readonly is: 'failure'; readonly text: string }
  /** What it printed is no answer. */
  | { readonly is: 'wrong'; readonly error: SignerResponseInvalidError }
  /** It ended without an answer. */
  | { readonly is: 'gone'; readonly end: ChannelEnd; readonly hasSpoken: boolean }
  | { readonly is: 'timed-out'; readonly limitMs: number; readonly printed: number }
  | { readonly is: 'aborted'; readonly reason: unknown }

export interface ExchangeLimits {
  readonly timeoutMs: number
  /** For requests that a person is asked for. */
  readonly interactiveTimeoutMs: number
  readonly outputBytes: number
}

interface ExchangeInit {
  readonly asked: SignerAsked
  readonly limits: ExchangeLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Whether a person may be asked from the start. A prompt says the same. */
  readonly interactive: boolean
  readonly onPrompt: (text: string) => void
}

/** One request to a signer, from the moment it is sent until it is answered or never will be. */
export class Exchange {
  readonly outcome: Promise<ExchangeOutcome>
  readonly #init: ExchangeInit
  readonly #reader: AnswerReader
  #limitMs: number
  #stopTimer: () => void
  #settle: (outcome: ExchangeOutcome) => void = () => {}
  #isSettled = false

  constructor(init: ExchangeInit) {
    const { asked, limits, signal, interactive } = init
    this.#init = init
    this.#reader = new AnswerReader(asked, limits.outputBytes)
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

  hear(bytes: Uint8Array): void {
    if (this.#isSettled) return
    this.#read(() => this.#reader.push(bytes))
  }

  /** The channel ended: what it printed may be whole now. */
  end(end: ChannelEnd): void {
    if (this.#isSettled) return
    const hasSpoken = this.#reader.size > 0
    // A program that failed has not answered, whatever it printed on the way.
    if (end.isClean) this.#read(() => this.#reader.end())
    this.#finish({ is: 'gone', end, hasSpoken })
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
      this.#giveTime()
      this.#init.onPrompt(message.text)
    } else this.#finish(message)
  }

  /** Somebody has to do something now. It counts once, so that prompts cannot go on for ever. */
  #giveTime(): void {
    const { interactiveTimeoutMs } = this.#init.limits
    if (this.#limitMs >= interactiveTimeoutMs) return
    this.#limitMs = interactiveTimeoutMs
    this.#stopTimer()
    this.#stopTimer = this.#startTimer(interactiveTimeoutMs)
  }

  #startTimer(milliseconds: number): () => void {
    return this.#init.clock.awaited(milliseconds, () => {
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

  /** @throws {SignerResponseInvalidError} For what cannot become an answer, whatever follows. */
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

  /** @throws {SignerResponseInvalidError} When the output ends in the middle of something. */
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

  #wrong(what: string): SignerResponseInvalidError {
    return new SignerResponseInvalidError(this.#asked.signer, what, {
      hint: 'Make the signer print only its answer to standard output, one JSON object per line, and everything else to standard error.',
    })
  }
}

/** The end of standard error that is shown. */
const SHOWN_TAIL = 4096
const SHOWN_REASON = 500

interface Failing {
  readonly asked: SignerAsked
  readonly scrub: SignerScrubber
  readonly tookMs: number
  /** The last part of standard error, as printed. */
  readonly stderrTail: string
}

/** The error for a request without an answer. */
export function outcomeError(
  outcome: Unanswered,
  { asked, scrub, tookMs, stderrTail }: Failing,
): unknown {
  const { signer } = asked
  // Cut after scrubbing: half a secret is one that no scrubber knows.
  const tail = scrub(stderrTail).trim().slice(-SHOWN_TAIL)
  const facts = { tookMs, ...(tail !== '' && { stderrTail: tail }) }
  switch (outcome.is) {
    case 'aborted':
      return outcome.reason
    case 'wrong':
      return outcome.error
    case 'failure': {
      // As our own signer says it: the reason in the first line, what to do about it in the others.
      const [first = '', ...rest] = scrub(outcome.text).trim().split('\n')
      const hint = oneLine(rest.join(' '), SHOWN_REASON)
      return new SignerFailedError(
        signer,
        `gave no ${asked.wish}: ${withoutFullStop(oneLine(first, SHOWN_REASON))}`,
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
          `${how} without an answer, where ${expectedKind(asked)} was expected`,
        )
      }
      return new SignerFailedError(signer, `${how} and gave no ${asked.wish}`, {
        ...facts,
        exitStatus,
      })
    }
  }
}

function describePrinted(bytes: number): string {
  return bytes === 0 ? '' : `; the ${bytes} bytes it printed are no whole line with an answer`
}

/** What follows in our messages brings its own. */
function withoutFullStop(text: string): string {
  return text.replace(/[.\s]+$/, '') || 'it does not say why'
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
