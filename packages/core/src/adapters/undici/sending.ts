import type { Duplex } from 'node:stream'
import type { ExecResponse } from '../../protocol/encode-exec-info.ts'
import { attachLease } from '../../transport/attach-lease.ts'
import { explainNetworkError, readAlert } from '../../transport/network-errors.ts'
import { refusalOf } from '../../transport/refusal.ts'
import { isProxied, pathOn } from '../../transport/target.ts'
import type { Wish } from '../../vault/access.ts'
import type { Lease } from '../../vault/lease.ts'
import { Attempt, type AttemptKind, type AttemptOwner } from './attempt.ts'
import { BothWays } from './both-ways.ts'
import { Delivery } from './delivery.ts'
import type { Handler, Headers } from './handlers.ts'
import { HeldAnswer } from './held-answer.ts'
import type { SendingParts } from './sending-parts.ts'

/**
 * One request from dispatch to end: with one credential, and after a refusal with a better one.
 *
 * The caller sees one request: it can abort and pause at any time, and what it gets is one answer. A
 * refusal is held back while we look for a better credential.
 */
export class Sending implements AttemptOwner {
  readonly caller: Handler
  readonly #parts: SendingParts
  readonly #delivery: Delivery
  readonly #wish: Wish | undefined
  #attempt: Attempt | undefined
  /** For a vault alone, where to wait for a credential is to stand in a queue. */
  readonly #gone: AbortController | undefined

  constructor(parts: SendingParts) {
    this.#parts = parts
    this.caller = parts.caller
    this.#wish = parts.line.wishOf(parts.aim)
    this.#gone = parts.line.isOpenEnded ? new AbortController() : undefined
    this.#delivery = new Delivery({
      caller: parts.caller,
      isUpgrade: Boolean(parts.options.upgrade),
      onAbort: (reason) => this.abort(reason ?? parts.way.aborted()),
      onDone: () => {
        this.#gone?.abort()
        parts.ongoing.delete(this)
      },
    })
  }

  start(): void {
    this.#parts.ongoing.add(this)
    try {
      // At once, not when a connection is there: the caller can then leave while we wait for a credential.
      this.caller.onRequestStart(this.#delivery.controller, null)
    } catch (error) {
      this.abort(error as Error)
    }
    if (!this.#delivery.isDone) void this.#begin({ refusals: 0, isResent: false })
  }

  /** Ends the request with an error for the caller. */
  abort(reason: Error): void {
    if (this.#delivery.isDone) return
    this.#attempt?.abort(reason)
    this.#delivery.fail(reason)
  }

  answered(attempt: Attempt, status: number, headers: Headers, statusText?: string): void {
    const { line } = this.#parts
    const head = { status, headers, rawHeaders: attempt.controller?.rawHeaders, statusText }
    if (status < 200) {
      this.#delivery.inform(head)
      return
    }
    const { lease } = attempt
    if (lease !== undefined && this.#isRefusal(status, lease)) {
      const refusal = refusalOf({ statusCode: head.status, headers: head.headers })
      if (this.#mayRetry(attempt)) {
        attempt.held = new HeldAnswer(head)
        void this.#improve(attempt, lease, refusal)
        return
      }
      line.access.reject(lease, refusal)
    } else if (lease !== undefined) {
      line.accept(lease, this.#wish, headers['date'])
    }
    this.#delivery.begin(attempt, head)
  }

  received({ held, controller }: Attempt, chunk: Buffer): void {
    if (held === undefined) {
      this.#delivery.data(chunk)
      return
    }
    held.push(chunk)
    if (held.isFull || this.#delivery.hasBegun) controller?.pause()
  }

  ended({ held }: Attempt, trailers: Headers): void {
    if (held === undefined) {
      this.#delivery.end(trailers)
      return
    }
    held.end(trailers)
    this.#delivery.endHeld()
  }

  upgraded(attempt: Attempt, status: number, headers: Headers, socket: Duplex): void {
    const { lease } = attempt
    const { line } = this.#parts
    if (lease !== undefined) line.accept(lease, this.#wish, headers['date'])
    attempt.keep(socket)
    this.#delivery.upgrade(attempt, status, headers, socket)
  }

  failed(attempt: Attempt, error: Error): void {
    const { lease, held } = attempt
    if (held !== undefined) {
      held.fail(error)
      this.#delivery.endHeld()
      return
    }
    if (this.#delivery.hasBegun) {
      this.#fail(error)
      return
    }
    const why = readAlert(error) === undefined ? (attempt.alert() ?? error) : error
    const refusal = lease && this.#parts.way.refusal(why, lease)
    if (lease !== undefined && refusal !== undefined) {
      this.#unanswered(attempt, lease, why, refusal)
    } else if (!attempt.isResent && this.#canMend(error)) {
      void this.#begin({ refusals: attempt.refusals, isResent: true })
    } else {
      this.#fail(error)
    }
  }

  /** The server ended the handshake because of our certificate, or is not the one that the login meant. */
  #unanswered(attempt: Attempt, lease: Lease, error: unknown, refusal: ExecResponse): void {
    const refused = explainNetworkError(error, attempt.target.origin)
    if (!this.#mayRetry(attempt)) {
      this.#parts.line.access.reject(lease, refusal)
      this.#fail(refused)
      return
    }
    attempt.held = new HeldAnswer(undefined)
    attempt.held.fail(refused)
    void this.#improve(attempt, lease, refusal)
  }

  #mayRetry({ refusals }: Attempt): boolean {
    return refusals < this.#parts.line.access.mostRetries
  }

  #canMend(error: Error): boolean {
    const { way, options, body } = this.#parts
    return body.canReplay() && way.mends(error, options)
  }

  async #begin(kind: AttemptKind, better?: Lease): Promise<void> {
    const { line, way, headers, options, body, aim } = this.#parts
    const wish = this.#wish
    const signal = this.#gone?.signal
    try {
      const hasOwn = headers['authorization'] !== undefined
      const leased = better ?? (hasOwn ? undefined : line.access.lease(signal, wish))
      const lease = leased instanceof Promise ? await leased : leased
      const found = lease === undefined ? line.targetFor(wish, signal) : line.targetOf(lease)
      const target = found instanceof Promise ? await found : found
      if (this.#delivery.isDone) return
      line.checkOpen()
      const attempt = new Attempt(this, { lease, target }, kind)
      this.#attempt = attempt
      const sent = {
        ...options,
        origin: target.origin,
        path: pathOn(aim.place, target),
        headers: lease === undefined ? headers : attachLease(headers, lease),
        body: body.open(),
      }
      way.begin(attempt, sent, new BothWays(attempt))
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  /** Reports a refusal, and sends the request once more if there is a better credential. */
  async #improve(attempt: Attempt, lease: Lease, refusal: ExecResponse): Promise<void> {
    const { line, body, options, aim } = this.#parts
    try {
      const { access } = line
      const better = await access.replace(lease, refusal, this.#gone?.signal, this.#wish)
      if (this.#delivery.isDone) return
      line.checkOpen()
      if (better === undefined || !body.canReplay()) {
        this.#delivery.release(attempt)
        return
      }
      attempt.drain()
      access.report({ type: 'retried', method: options.method, path: aim.place.pathname })
      await this.#begin({ refusals: attempt.refusals + 1, isResent: false }, better)
    } catch (error) {
      this.abort(error as Error)
    }
  }

  #fail(error: Error): void {
    const { line, way } = this.#parts
    const { origin } = this.#attempt?.target ?? line.target
    this.#delivery.fail(way.explain(error, origin))
  }

  #isRefusal(status: number, { authorization, credential }: Lease): boolean {
    const { line, aim } = this.#parts
    const isAnonymous = authorization === undefined && credential.certificate === undefined
    return line.refreshOn.includes(status) && !isProxied(aim.place.pathname) && !isAnonymous
  }
}
