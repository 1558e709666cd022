import type { Duplex } from 'node:stream'
import { ForeignOriginError } from '../../errors/index.ts'
import type { Target } from '../../transport/target.ts'
import type { Lease } from '../../vault/lease.ts'
import type { Controller, Handler, Headers } from './handlers.ts'
import type { HeldAnswer } from './held-answer.ts'

/** How much of an answer that nobody wants is read, so that its connection can be used again, and for how long. */
const MOST_DRAINED_BYTES = 64 * 1024
const LONGEST_DRAIN_MS = 2000

/** What a try of a request tells whoever sends it. */
export interface AttemptOwner {
  answered(attempt: Attempt, status: number, headers: Headers, statusText?: string): void
  received(attempt: Attempt, chunk: Buffer): void
  ended(attempt: Attempt, trailers: Headers): void
  failed(attempt: Attempt, error: Error): void
  upgraded(attempt: Attempt, status: number, headers: Headers, socket: Duplex): void
  /** The caller's own handler, for what needs no thought. */
  readonly caller: Handler
}

export interface AttemptKind {
  /** How many tries before it were refused. */
  readonly refusals: number
  /** Whether it is sent again because a connection broke. */
  readonly isResent: boolean
}

export interface AttemptWay {
  readonly lease: Lease | undefined
  readonly target: Target
}

/** One try of a request: what undici calls while it is on its way. */
export class Attempt implements Required<Handler>, AttemptKind {
  /** Undefined when the caller brings a credential. */
  readonly lease: Lease | undefined
  /** Where it goes: the server of the credential. */
  readonly target: Target
  readonly refusals: number
  readonly isResent: boolean
  controller: Controller | undefined
  held: HeldAnswer | undefined
  /** The alert by which the server ended a connection of this kind since the try began. */
  alert: () => unknown = () => undefined
  /** Sees to it that a connection that was handed over ends with the others. */
  keep: (socket: Duplex) => void = () => {}
  /** Calls it off while it waits for its turn. */
  leave: (reason: Error) => void = () => {}
  /** Called when it needs its place no more. */
  done: () => void = () => {}
  readonly #owner: AttemptOwner
  #abandoned: Error | undefined
  #drained = 0
  #timer: NodeJS.Timeout | undefined

  constructor(owner: AttemptOwner, way: AttemptWay, { refusals, isResent }: AttemptKind) {
    this.#owner = owner
    this.lease = way.lease
    this.target = way.target
    this.refusals = refusals
    this.isResent = isResent
  }

  /** Ends it; nothing more is told. */
  abort(reason: Error): void {
    this.#abandoned = reason
    this.leave(reason)
    this.controller?.abort(reason)
  }

  /** Lets the rest of the answer pass by, so that the connection can be used again. */
  drain(): void {
    const reason = new Error('the answer was replaced by a better one')
    this.#abandoned = reason
    if (this.held?.hasEnded !== false) return
    this.#timer = setTimeout(() => this.controller?.abort(reason), LONGEST_DRAIN_MS)
    this.controller?.resume()
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.controller = controller
    if (this.#abandoned !== undefined) controller.abort(this.#abandoned)
    if (followsRedirect(context)) controller.abort(redirected())
  }

  onResponseStart(_: Controller, status: number, headers: Headers, statusText?: string): void {
    if (this.#abandoned === undefined) this.#owner.answered(this, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#abandoned === undefined) {
      this.#owner.received(this, chunk)
      return
    }
    this.#drained += chunk.length
    if (this.#drained > MOST_DRAINED_BYTES) controller.abort(this.#abandoned)
  }

  onResponseEnd(controller: Controller, trailers: Headers): void {
    clearTimeout(this.#timer)
    this.done()
    this.controller = controller
    if (this.#abandoned === undefined) this.#owner.ended(this, trailers)
  }

  onResponseError(_: Controller | null, error: Error): void {
    clearTimeout(this.#timer)
    this.done()
    if (this.#abandoned === undefined) this.#owner.failed(this, error)
  }

  onRequestUpgrade(_: Controller, status: number, headers: Headers, socket: Duplex): void {
    this.done()
    if (this.#abandoned === undefined) this.#owner.upgraded(this, status, headers, socket)
    else socket.destroy()
  }

  onBodySent(chunk: unknown): void {
    if (this.#abandoned === undefined) this.#owner.caller.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    if (this.#abandoned === undefined) this.#owner.caller.onRequestSent?.()
  }

  onResponseStarted(): void {
    if (this.#abandoned === undefined) this.#owner.caller.onResponseStarted?.()
  }
}

/** Whether something below us, which has our headers, is on its way to where a redirect led. */
function followsRedirect(context: unknown): boolean {
  const { history } = (context ?? {}) as { history?: unknown }
  return Array.isArray(history) && history.length > 0
}

function redirected(): ForeignOriginError {
  return new ForeignOriginError('a redirect was about to be followed with our headers on it', {
    hint: "Compose kubecred's interceptor first and redirect() after it: agent.compose(createInterceptor(cluster), redirect()).",
  })
}
