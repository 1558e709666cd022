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
import type { ExpectedResponse } from '../signer/signer-protocol.ts'
import {
  type ExchangeLimits,
  type ExchangeOutcome,
  outcomeError,
  SignerExchange,
} from './signer-exchange.ts'
import type { SignerScrubber } from './signer-secrets.ts'

/** One request, in both forms in which it can be sent. Both contain the PIN. */
export interface DeviceRequest {
  readonly expected: ExpectedResponse
  /** Environment variables for a process that is started for this request. */
  readonly variables: Readonly<Record<string, string>>
  /** A line for a signer that is already running. */
  readonly line: string
  /** Returns the error of an answer that cannot be used. */
  readonly check?: ((answer: Uint8Array) => CredentialError | undefined) | undefined
}

/** The circumstances of one request. */
interface RequestContext {
  readonly signal: AbortSignal
  /** Whether the user can be prompted at the terminal. */
  readonly interactive: boolean
  /** Receives each prompt as the signer sent it; the receiver must scrub it. */
  readonly onPrompt: (text: string) => void
}

/** What a `SignerDevice` needs. */
export interface DeviceInit {
  /** Opens a channel and sends the first request over it. */
  readonly open: (
    request: DeviceRequest,
    context: RequestContext,
    listener: ChannelListener,
  ) => Promise<SignerChannel>
  readonly turns: SerialQueue
  readonly clock: Clock
  readonly crypto: Crypto
  readonly policy: LifecyclePolicy
  readonly limits: ExchangeLimits & {
    /** How long a running signer is kept without a request. */
    readonly idleMs: number
  }
  readonly scrub: SignerScrubber
  /** Reports problems that belong to no request. */
  readonly warn: (message: string) => void
}

/** A running signer: its channel, and the request in progress. */
interface Session {
  channel?: SignerChannel
  exchange?: SignerExchange
  /** Blank bytes received after answers. */
  blanks?: number
  /** Events that arrived before the exchange was created. */
  readonly early: ((exchange: SignerExchange) => void)[]
}

/**
 * Sends requests to a signer, one at a time, and starts the signer when needed.
 *
 * A long-running signer gets further requests over the same channel; one that exits after each answer is started again
 * for the next request. Which kind it is shows only when it exits, so the running signer is tried first.
 */
export class SignerDevice {
  readonly #init: DeviceInit
  readonly #pause: FailurePause
  /** The running signer. */
  #session: Session | undefined
  /** Aborts the request in progress. */
  #current: AbortController | undefined
  /** Resolves when earlier signers have ended. The next one starts after that: a device may allow only one user. */
  #ending: Promise<void> = Promise.resolve()
  readonly #endingChannels = new Set<SignerChannel>()
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
   * Sends a request when it is its turn, and resolves with the certificate or signature.
   *
   * @throws {CredentialError} Or the reason of the signal.
   */
  async ask(request: DeviceRequest, context: RequestContext): Promise<Uint8Array> {
    const { ticket } = this.#pause
    const endTurn = await this.#init.turns.take(context.signal)
    const current = new AbortController()
    const abort = (): void => current.abort(context.signal.reason)
    try {
      context.signal.throwIfAborted()
      context.signal.addEventListener('abort', abort, { once: true })
      if (this.#isClosed) throw new ClosedError()
      if (request.expected.payload === 'signature') this.#pause.check(ticket)
      this.#stopIdle()
      this.#current = current
      return await this.#perform(request, { ...context, signal: current.signal })
    } finally {
      context.signal.removeEventListener('abort', abort)
      this.#current = undefined
      this.#startIdleTimer()
      // A caller that gave up need not wait until the signer has ended; the next request must.
      void this.#ending.then(endTurn)
    }
  }

  /** Ends the signer and the request in progress. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopIdle()
    if (this.#current === undefined) this.#drop('gracefully')
    else this.#current.abort(new ClosedError())
  }

  async #perform(request: DeviceRequest, context: RequestContext): Promise<Uint8Array> {
    const { expected } = request
    const { clock, scrub } = this.#init
    const startedAt = clock.now()
    const outcome =
      (await this.#askRunning(request, context)) ?? (await this.#startAndAsk(request, context))
    const isSignature = expected.payload === 'signature'
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
    const stderrTail = isGone
      ? outcome.end.stderrTail
      : (this.#session?.channel?.stderrTail() ?? '')
    const tookMs = Math.max(0, clock.now() - startedAt)
    const error = outcomeError(outcome, { expected, scrub, tookMs, stderrTail })
    const isSignerFault =
      error instanceof SignerFailedError || error instanceof SignerResponseInvalidError
    if (isSignature && isSignerFault) this.#pause.failed(error)
    // After any other outcome, later output could belong to another request.
    if (outcome.is !== 'failure') this.#drop('now')
    throw error
  }

  /** Asks the running signer. Undefined if there is none, or if it exits without output: then it answers only once. */
  async #askRunning(
    request: DeviceRequest,
    context: RequestContext,
  ): Promise<ExchangeOutcome | undefined> {
    if (context.interactive && this.#session?.channel?.canPrompt === false) this.#drop('gracefully')
    const session = this.#session
    if (session?.channel === undefined) return undefined
    session.channel.setRef(true)
    const exchange = this.#begin(session, request, context)
    session.channel.send(request.line)
    const outcome = await exchange.outcome
    const answersOnce = outcome.is === 'gone' && outcome.end.isClean && !outcome.hasOutput
    return answersOnce ? undefined : outcome
  }

  async #startAndAsk(request: DeviceRequest, context: RequestContext): Promise<ExchangeOutcome> {
    // A request now waits for their end, so they must keep the process alive.
    for (const channel of this.#endingChannels) channel.setRef(true)
    await this.#ending
    context.signal.throwIfAborted()
    const session: Session = { early: [] }
    this.#session = session
    try {
      session.channel = await this.#init.open(request, context, {
        onOutput: (bytes) => this.#onOutput(session, bytes),
        onEnd: (end) => this.#onEnd(session, end),
      })
    } catch (error) {
      this.#session = undefined
      throw error
    }
    const exchange = this.#begin(session, request, context)
    for (const replay of session.early) replay(exchange)
    return exchange.outcome
  }

  #begin(session: Session, { expected }: DeviceRequest, context: RequestContext): SignerExchange {
    const { signal, interactive, onPrompt } = context
    const { limits, clock } = this.#init
    session.exchange = new SignerExchange({
      expected,
      limits,
      clock,
      signal,
      interactive,
      onPrompt,
    })
    return session.exchange
  }

  #onOutput(session: Session, bytes: Uint8Array): void {
    const { exchange } = session
    if (exchange === undefined) session.early.push((begun) => begun.push(bytes))
    else if (!exchange.isSettled) exchange.push(bytes)
    else if (session === this.#session && this.#isUnexpected(session, bytes)) {
      this.#init.warn('the signer printed unexpected output and was stopped')
      this.#drop('now')
    }
  }

  /** Line breaks after an answer are allowed. */
  #isUnexpected(session: Session, bytes: Uint8Array): boolean {
    session.blanks = (session.blanks ?? 0) + bytes.length
    return session.blanks > MAX_BLANKS || bytes.some((byte) => byte > SPACE)
  }

  #onEnd(session: Session, end: ChannelEnd): void {
    if (this.#session === session) this.#session = undefined
    if (session.exchange === undefined) session.early.push((begun) => begun.end(end))
    else session.exchange.end(end)
  }

  /** Ends the running signer. */
  #drop(how: 'gracefully' | 'now'): void {
    const channel = this.#session?.channel
    this.#session = undefined
    if (channel === undefined) return
    this.#endingChannels.add(channel)
    const gone = channel.end(how).then(() => this.#endingChannels.delete(channel))
    this.#ending = Promise.all([this.#ending, gone]).then(() => {})
  }

  /** Lets the process exit after a request, and ends the signer once it has been idle for too long. */
  #startIdleTimer(): void {
    const channel = this.#session?.channel
    if (channel === undefined) return
    if (this.#isClosed) {
      this.#drop('gracefully')
      return
    }
    channel.setRef(false)
    this.#stopIdle()
    this.#stopIdle = this.#init.clock.after(this.#init.limits.idleMs, () =>
      this.#drop('gracefully'),
    )
  }
}

/** Bytes up to this one are blank: white space and control characters. */
const SPACE = 0x20
/** Allows a line break after each answer, but not an endless stream of them. */
const MAX_BLANKS = 4096

interface Failure {
  readonly error: unknown
  readonly until: number
}

/**
 * Remembers a failed signature, so that a wrong PIN is not tried again and again: a token locks itself after a few
 * tries.
 *
 * Requests that were queued at the time of the failure fail with it, and so do all others until the end of a pause that
 * doubles with each failure.
 */
export class FailurePause {
  readonly #limits: BackOffLimits
  readonly #now: () => number
  readonly #jitter: () => number
  #last: Failure | undefined
  /** Consecutive failures. */
  #consecutive = 0
  /** All failures. A request with a smaller ticket was queued during the last one. */
  #count = 0

  constructor(limits: BackOffLimits, now: () => number, jitter: () => number) {
    this.#limits = limits
    this.#now = now
    this.#jitter = jitter
  }

  /** The ticket of a request that enters the queue now. */
  get ticket(): number {
    return this.#count
  }

  /** @throws The last failure, if it applies to a request with this ticket. */
  check(ticket: number): void {
    if (this.#last === undefined) return
    if (ticket < this.#count || this.#now() < this.#last.until) throw this.#last.error
  }

  succeeded(): void {
    this.#last = undefined
    this.#consecutive = 0
  }

  failed(error: CredentialError): void {
    this.#count += 1
    this.#consecutive += 1
    const until = this.#now() + backOff(this.#consecutive, this.#limits, this.#jitter())
    this.#last = { error, until }
    error.nextTryAt = until
  }
}
