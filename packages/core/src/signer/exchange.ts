import type { SignerAnswerError } from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChannelEnd } from '../ports/signer-channel.ts'
import type { SignerAsked, SignerMessage } from '../protocol/signer-answer.ts'
import { AnswerReader } from './answer-reader.ts'

/** What became of one request. */
export type ExchangeOutcome = { readonly is: 'answer'; readonly bytes: Uint8Array } | Unanswered

/** Why a request has no answer. */
export type Unanswered =
  /** The signer says why there is no answer, and stays. */
  | { readonly is: 'failure'; readonly text: string }
  /** What it printed is no answer. */
  | { readonly is: 'wrong'; readonly error: SignerAnswerError }
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

export interface ExchangeInit {
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
    if (end.isInOrder) this.#read(() => this.#reader.end())
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
      this.#finish({ is: 'wrong', error: error as SignerAnswerError })
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
