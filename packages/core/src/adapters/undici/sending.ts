import type { Duplex } from 'node:stream'
import type { ExecResponse } from '../../protocol/encode-exec-info.ts'
import { explainNetworkError, readAlert } from '../../transport/network-errors.ts'
import { refusalOf } from '../../transport/refusal.ts'
import { isProxied } from '../../transport/target.ts'
import type { Lease } from '../../vault/lease.ts'
import { Attempt, type AttemptKind, type AttemptOwner } from './attempt.ts'
import { BothWays } from './both-ways.ts'
import { Delivery } from './delivery.ts'
import type { Handler, Headers } from './handlers.ts'
import { HeldAnswer } from './held-answer.ts'
import type { SendingParts } from './sending-parts.ts'

/**
 * One request from dispatch to end, with at most two credentials.
 *
 * The caller sees one request: it can abort and pause at any time, and what it gets is one answer. The
 * first refusal is held back while we look for a better credential.
 */
export class Sending implements AttemptOwner {
  readonly caller: Handler
  readonly #parts: SendingParts
  readonly #delivery: Delivery
  #attempt: Attempt | undefined

  constructor(parts: SendingParts) {
    this.#parts = parts
    this.caller = parts.caller
    this.#delivery = new Delivery({
      caller: parts.caller,
      isUpgrade: Boolean(parts.options.upgrade),
      onAbort: (reason) => this.abort(reason ?? parts.way.aborted()),
      onDone: () => parts.ongoing.delete(this),
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
    if (!this.#delivery.isDone) void this.#begin({ isRetry: false, isResent: false })
  }

  /** Ends the request with an error for the caller. */
  abort(reason: Error): void {
    if (this.#delivery.isDone) return
    this.#attempt?.abort(reason)
    this.#delivery.fail(reason)
  }

  answered(attempt: Attempt, status: number, headers: Headers, statusText?: string): void {
    const { keeper } = this.#parts.line
    const head = { status, headers, rawHeaders: attempt.controller?.rawHeaders, statusText }
    if (status < 200) {
      this.#delivery.inform(head)
      return
    }
    const { lease } = attempt
    if (lease !== undefined && this.#isRefusal(status, lease)) {
      if (!attempt.isRetry) {
        attempt.held = new HeldAnswer(head)
        void this.#improve(
          attempt,
          lease,
          refusalOf({ statusCode: head.status, headers: head.headers }),
        )
        return
      }
      keeper.reject(lease, refusalOf({ statusCode: head.status, headers: head.headers }))
    } else if (lease !== undefined) {
      keeper.accept(lease, headers['date'])
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
    if (lease !== undefined) this.#parts.line.keeper.accept(lease, headers['date'])
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
    const alert = readAlert(error) === undefined ? attempt.alert() : error
    if (alert !== undefined && lease?.credential.certificate !== undefined) {
      this.#alerted(attempt, lease, alert)
    } else if (!attempt.isResent && this.#canMend(error)) {
      void this.#begin({ isRetry: attempt.isRetry, isResent: true })
    } else {
      this.#fail(error)
    }
  }

  /** The server ended the handshake, or what came after it, because of our certificate. */
  #alerted(attempt: Attempt, lease: Lease, alert: unknown): void {
    const { line } = this.#parts
    const refused = explainNetworkError(alert, line.target.origin)
    const response = { code: 401, header: {} }
    if (attempt.isRetry) {
      line.keeper.reject(lease, response)
      this.#fail(refused)
      return
    }
    attempt.held = new HeldAnswer(undefined)
    attempt.held.fail(refused)
    void this.#improve(attempt, lease, response)
  }

  #canMend(error: Error): boolean {
    const { way, options, body } = this.#parts
    return body.canReplay() && way.mends(error, options)
  }

  async #begin(kind: AttemptKind, better?: Lease): Promise<void> {
    const { line, way, headers, options, body, place } = this.#parts
    try {
      const hasOwn = headers['authorization'] !== undefined
      const leased = better ?? (hasOwn ? undefined : line.keeper.lease())
      const lease = leased instanceof Promise ? await leased : leased
      if (this.#delivery.isDone) return
      line.checkOpen()
      const attempt = new Attempt(this, lease, kind)
      this.#attempt = attempt
      const authorization = lease?.authorization
      const sent = {
        ...options,
        origin: line.target.origin,
        path: place.pathname + place.search,
        headers: authorization === undefined ? headers : { ...headers, authorization },
        body: body.open(),
      }
      way.begin(attempt, sent, new BothWays(attempt))
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  /** Reports a refusal, and sends the request once more if there is a better credential. */
  async #improve(attempt: Attempt, lease: Lease, refusal: ExecResponse): Promise<void> {
    const { line, body, options, place } = this.#parts
    try {
      const better = await line.keeper.replace(lease, refusal)
      if (this.#delivery.isDone) return
      line.checkOpen()
      if (better === undefined || !body.canReplay()) {
        this.#delivery.release(attempt)
        return
      }
      attempt.drain()
      line.keeper.report({ type: 'retried', method: options.method, path: place.pathname })
      await this.#begin({ isRetry: true, isResent: false }, better)
    } catch (error) {
      this.abort(error as Error)
    }
  }

  #fail(error: Error): void {
    this.#delivery.fail(this.#parts.way.explain(error))
  }

  #isRefusal(status: number, { authorization, credential }: Lease): boolean {
    const { line, place } = this.#parts
    const isAnonymous = authorization === undefined && credential.certificate === undefined
    return line.refreshOn.includes(status) && !isProxied(place.pathname) && !isAnonymous
  }
}
