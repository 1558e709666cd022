import {
  ClosedError,
  type CredentialError,
  SignerFailedError,
  SignerResponseInvalidError,
} from '../errors/index.ts'
import { type BackOffLimits, backOff } from '../lifecycle/back-off.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type {
  ChannelEnd,
  ChannelListener,
  SerialQueue,
  SignerChannel,
} from '../ports/signer-channel.ts'
import type { SignerAsked } from '../signer/signer-protocol.ts'
import {
  Exchange,
  type ExchangeLimits,
  type ExchangeOutcome,
  outcomeError,
} from './signer-exchange.ts'
import type { SignerScrubber } from './signer-secrets.ts'

/** One request, in the two forms it can be sent in. Both hold the PIN. */
export interface DeviceRequest {
  readonly asked: SignerAsked
  /** For the environment of a process that is started for it, by name. */
  readonly variables: Readonly<Record<string, string>>
  /** For one that is there. */
  readonly line: string
  /** What is wrong with an answer; nothing when it can be used. */
  readonly check?: ((answer: Uint8Array) => CredentialError | undefined) | undefined
}

/** Around one request. */
interface Asking {
  readonly signal: AbortSignal
  /** Whether a person can be asked at the terminal. */
  readonly interactive: boolean
  /** Shows a prompt; cleaning it is the caller's business. */
  readonly onPrompt: (text: string) => void
}

export interface DeviceInit {
  /** Opens a channel and sends its first request with it. */
  readonly open: (
    request: DeviceRequest,
    asking: Asking,
    listener: ChannelListener,
  ) => Promise<SignerChannel>
  readonly turns: SerialQueue
  readonly clock: Clock
  readonly crypto: Crypto
  readonly policy: LifecyclePolicy
  readonly limits: ExchangeLimits & {
    /** How long a signer that stays is kept without a request. */
    readonly idleMs: number
  }
  readonly scrub: SignerScrubber
  /** Told of what nobody waits for. */
  readonly warn: (message: string) => void
}

/** A channel, and the request that is under way on it. */
interface Talk {
  channel?: SignerChannel
  exchange?: Exchange
  /** Bytes after the answers, so far. */
  blanks?: number
  /** What came before anybody could listen. */
  readonly missed: ((exchange: Exchange) => void)[]
}

/**
 * A signer as something that can be asked: one request at a time, whatever it takes to have one sent.
 *
 * A signer that stays gets further requests over the same channel; for one that exits after its answer the next
 * request starts it again. Nobody can tell which it is before it has exited, so both are tried in this order.
 */
export class SignerDevice {
  readonly #init: DeviceInit
  readonly #pause: FailurePause
  /** With the signer that is there. */
  #talk: Talk | undefined
  /** Ends the request that is under way. */
  #current: AbortController | undefined
  /** Signers that are being ended: the next is started when they are gone, since a device may have one user only. */
  #leaving: Promise<void> = Promise.resolve()
  readonly #left = new Set<SignerChannel>()
  #stopIdle: () => void = () => {}
  #isClosed = false

  constructor(init: DeviceInit) {
    const { policy, clock, crypto } = init
    this.#init = init
    this.#pause = new FailurePause(
      policy,
      () => clock.now(),
      () => crypto.jitter(),
    )
  }

  /**
   * Asks when it is our turn, and resolves with what was wished for.
   *
   * @throws {CredentialError} Or the signal's reason.
   */
  async ask(request: DeviceRequest, asking: Asking): Promise<Uint8Array> {
    const { ticket } = this.#pause
    const endTurn = await this.#init.turns.take(asking.signal)
    const current = new AbortController()
    const abort = (): void => current.abort(asking.signal.reason)
    try {
      asking.signal.throwIfAborted()
      asking.signal.addEventListener('abort', abort, { once: true })
      if (this.#isClosed) throw new ClosedError()
      if (request.asked.wish === 'signature') this.#pause.check(ticket)
      this.#stopIdle()
      this.#current = current
      return await this.#converse(request, { ...asking, signal: current.signal })
    } finally {
      asking.signal.removeEventListener('abort', abort)
      this.#current = undefined
      this.#rest()
      // Who gave up need not wait for the end of a signer; who comes next must.
      void this.#leaving.then(endTurn)
    }
  }

  /** Ends the signer and whatever it is asked. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopIdle()
    if (this.#current === undefined) this.#drop('in-order')
    else this.#current.abort(new ClosedError())
  }

  async #converse(request: DeviceRequest, asking: Asking): Promise<Uint8Array> {
    const { asked } = request
    const { clock, scrub } = this.#init
    const startedAt = clock.now()
    const outcome = (await this.#askAgain(request, asking)) ?? (await this.#askNew(request, asking))
    const isSignature = asked.wish === 'signature'
    if (outcome.is === 'answer') {
      const wrong = request.check?.(outcome.bytes)
      if (wrong !== undefined) {
        this.#pause.failed(wrong)
        throw wrong
      }
      if (isSignature) this.#pause.succeeded()
      return outcome.bytes
    }
    const isGone = outcome.is === 'gone'
    const stderrTail = isGone ? outcome.end.stderrTail : (this.#talk?.channel?.stderrTail() ?? '')
    const tookMs = Math.max(0, clock.now() - startedAt)
    const error = outcomeError(outcome, { asked, scrub, tookMs, stderrTail })
    const isTheirs =
      error instanceof SignerFailedError || error instanceof SignerResponseInvalidError
    if (isSignature && isTheirs) this.#pause.failed(error)
    // Of all others it cannot be known what they say next, or to which request.
    if (outcome.is !== 'failure') this.#drop('now')
    throw error
  }

  /** Asks the signer that is there. Undefined when there is none, or it ends without a word: it was one that answers once. */
  async #askAgain(request: DeviceRequest, asking: Asking): Promise<ExchangeOutcome | undefined> {
    if (asking.interactive && this.#talk?.channel?.canAsk === false) this.#drop('in-order')
    const talk = this.#talk
    if (talk?.channel === undefined) return undefined
    talk.channel.hold(true)
    const exchange = this.#begin(talk, request, asking)
    talk.channel.send(request.line)
    const outcome = await exchange.outcome
    const isOver = outcome.is === 'gone' && outcome.end.isClean && !outcome.hasSpoken
    return isOver ? undefined : outcome
  }

  async #askNew(request: DeviceRequest, asking: Asking): Promise<ExchangeOutcome> {
    // Now somebody waits for their end, which nobody did before.
    for (const channel of this.#left) channel.hold(true)
    await this.#leaving
    asking.signal.throwIfAborted()
    const talk: Talk = { missed: [] }
    this.#talk = talk
    try {
      talk.channel = await this.#init.open(request, asking, {
        onOutput: (bytes) => this.#hear(talk, bytes),
        onEnd: (end) => this.#ended(talk, end),
      })
    } catch (error) {
      this.#talk = undefined
      throw error
    }
    const exchange = this.#begin(talk, request, asking)
    for (const tell of talk.missed) tell(exchange)
    return exchange.outcome
  }

  #begin(talk: Talk, { asked }: DeviceRequest, asking: Asking): Exchange {
    const { signal, interactive, onPrompt } = asking
    const { limits, clock } = this.#init
    talk.exchange = new Exchange({ asked, limits, clock, signal, interactive, onPrompt })
    return talk.exchange
  }

  #hear(talk: Talk, bytes: Uint8Array): void {
    const { exchange } = talk
    if (exchange === undefined) talk.missed.push((begun) => begun.hear(bytes))
    else if (!exchange.isSettled) exchange.hear(bytes)
    else if (talk === this.#talk && this.#isNoise(talk, bytes)) {
      this.#init.warn('the signer printed something that it was not asked for, and was ended')
      this.#drop('now')
    }
  }

  /** A line break behind an answer is none. */
  #isNoise(talk: Talk, bytes: Uint8Array): boolean {
    talk.blanks = (talk.blanks ?? 0) + bytes.length
    return talk.blanks > MOST_BLANKS || bytes.some((byte) => byte > SPACE)
  }

  #ended(talk: Talk, end: ChannelEnd): void {
    if (this.#talk === talk) this.#talk = undefined
    if (talk.exchange === undefined) talk.missed.push((begun) => begun.end(end))
    else talk.exchange.end(end)
  }

  /** Forgets the signer that is there, and ends it. */
  #drop(how: 'in-order' | 'now'): void {
    const channel = this.#talk?.channel
    this.#talk = undefined
    if (channel === undefined) return
    this.#left.add(channel)
    const gone = channel.end(how).then(() => this.#left.delete(channel))
    this.#leaving = Promise.all([this.#leaving, gone]).then(() => {})
  }

  /** After a request nobody waits any more, and for long nobody may. */
  #rest(): void {
    const channel = this.#talk?.channel
    if (channel === undefined) return
    if (this.#isClosed) {
      this.#drop('in-order')
      return
    }
    channel.hold(false)
    this.#stopIdle()
    this.#stopIdle = this.#init.clock.after(this.#init.limits.idleMs, () => this.#drop('in-order'))
  }
}

/** The last of the blank characters, line breaks among them. */
const SPACE = 0x20
/** A line break for each answer is polite; a stream of them is not. */
const MOST_BLANKS = 4096

interface Failure {
  readonly error: unknown
  readonly until: number
}

/**
 * Remembers that a signature failed, so that one wrong PIN is not tried again and again: a token locks itself
 * after a few.
 *
 * Those who stood in line when it failed fail with it, and so does everybody until a pause is over, which doubles
 * each time.
 */
export class FailurePause {
  readonly #limits: BackOffLimits
  readonly #now: () => number
  readonly #jitter: () => number
  #last: Failure | undefined
  /** Failures since the last signature. */
  #inARow = 0
  /** Failures at all: who came before the last one stood in line for it. */
  #count = 0

  constructor(limits: BackOffLimits, now: () => number, jitter: () => number) {
    this.#limits = limits
    this.#now = now
    this.#jitter = jitter
  }

  /** Taken when somebody gets in line. */
  get ticket(): number {
    return this.#count
  }

  /** @throws The last failure, if it counts for whoever came with this ticket. */
  check(ticket: number): void {
    if (this.#last === undefined) return
    if (ticket < this.#count || this.#now() < this.#last.until) throw this.#last.error
  }

  succeeded(): void {
    this.#last = undefined
    this.#inARow = 0
  }

  failed(error: CredentialError): void {
    this.#count += 1
    this.#inARow += 1
    const until = this.#now() + backOff(this.#inARow, this.#limits, this.#jitter())
    this.#last = { error, until }
    error.nextTryAt = until
  }
}
