import { type Duplex, Readable } from 'node:stream'
import type { Refusal } from '../credential/credential.ts'
import { explainNetworkError } from '../dial/network-errors.ts'
import type { Target } from '../dial/target.ts'
import { isCredentialError } from '../errors/index.ts'
import { isProgramError } from '../errors/unexpected-error.ts'
import type { Connections, Exchange, HeaderValues, Sendable } from '../exchange/exchange.ts'
import { type Controller, NoResponseError, type ResponseHeaders } from '../exchange/handler.ts'
import type { Lease } from '../keeper/lease.ts'
import type { LeaseOptions } from '../keeper/lease-provider.ts'
import { certificateAlert } from '../tls/alert.ts'
import type { Gate, GateEntry } from './gate.ts'
import { IncomingResponse } from './incoming-response.ts'
import type { Line } from './line.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { isRefused, refusalOf, refusalWithoutResponse, resendDelayMs } from './refusal.ts'
import { isStreaming, pathOn, type RequestTarget } from './request-target.ts'

/** How long the rest of a refusal may take to arrive once a new credential is available. */
const MAX_DRAIN_MS = 2000

/** Receives the outcome of a call: exactly one of `answered` and `failed`, once. */
export interface Caller {
  /** Called when the response has begun; its body is read from the call. */
  answered(call: Call): void
  /** Called when there is no response. */
  failed(error: unknown): void
  /** Called with an informational (1xx) response; the final response follows. */
  informed?(call: Call, status: number, headers: ResponseHeaders, statusText: string): void
  /** Converts a connection error for the caller; by default to one of our errors. */
  readonly explain?: ((error: unknown, target: Target) => unknown) | undefined
}

/**
 * One request from start to end: its place at the gate, its credential, its tries and its response.
 *
 * The request is sent with the current credential and, if the server refuses it, once more with a new one. Calls that
 * are refused at the same time share one refresh. If there is no new credential, or the body cannot be sent again, the
 * caller gets the server's own response. With several credentials available, each remaining one is tried.
 *
 * The call is also the handler that the exchange calls. One object does both because every object and promise between
 * the caller and the connection adds to the time of every request.
 */
export class Call extends IncomingResponse implements Sendable {
  readonly target: RequestTarget
  /** Whether the response stays open by design, and so counts as a stream. */
  readonly isStream: boolean
  readonly #line: Line
  readonly #outgoing: OutgoingRequest
  readonly #caller: Caller
  readonly #exchange: Exchange
  readonly #gate: Gate | undefined
  readonly #leaseOptions: LeaseOptions | undefined
  /** The server of a request with the caller's own credential. */
  #ownCredentialTarget: Target | undefined
  /** How often the request was sent again with another credential, after a refusal. */
  #retries = 0
  /** How often the request was sent again with the same credential, because there was no response. */
  #repeats = 0
  #resendTimer: NodeJS.Timeout | undefined

  // State of the last try.
  path = ''
  requestHeaders: HeaderValues = NO_HEADERS
  requestBody: Uint8Array | Readable | undefined
  #entry: GateEntry | undefined
  #lease: Lease | undefined
  #server: Target | undefined
  #connections: Connections | undefined
  #alertMark = 0
  #controller: Controller | undefined
  /** Why there is no response; set while a new credential is awaited. */
  #noResponse: { readonly error: unknown } | undefined

  /** Whether the caller has the response. */
  #isAnswered = false
  /** Whether the call has ended. */
  #isOver = false

  constructor(
    line: Line,
    exchange: Exchange,
    target: RequestTarget,
    outgoing: OutgoingRequest,
    caller: Caller,
  ) {
    super()
    this.#line = line
    this.#exchange = exchange
    this.target = target
    this.#outgoing = outgoing
    this.isStream = outgoing.isStream ?? isStreaming(target)
    this.#caller = caller
    this.#gate = exchange.limitsRequests ? undefined : line.gate
    this.#leaseOptions = line.leaseOptionsFor(target)
  }

  get method(): string {
    return this.#outgoing.method
  }

  get round(): number {
    return this.#gate?.round ?? 0
  }

  /** The server that the request was last sent to. */
  get server(): Target {
    return this.#server ?? this.#line.target
  }

  override get controller(): Controller | undefined {
    return this.#controller
  }

  /** Sends the request. */
  start(): void {
    const { signal, headers } = this.#outgoing
    this.#line.calls.add(this)
    if (signal?.aborted) {
      this.#reject(signal.reason)
      return
    }
    signal?.addEventListener('abort', this)
    if (headers['authorization'] === undefined) this.#enter()
    else this.#findServer()
  }

  /** Ends the request. The caller, or the reader of the response, gets the reason as its error. */
  override cancel(reason: unknown): void {
    if (this.#isOver) return
    const controller = this.#controller
    if (this.#isAnswered) this.#breakOff(reason)
    else this.#reject(reason)
    const error = reason instanceof Error ? reason : new Error('the request was aborted')
    controller?.abort(error)
    this.socket?.on('error', () => {}).destroy(error)
  }

  /** Handles the signal's `abort` event: an object is a cheaper listener than a closure. */
  handleEvent(): void {
    this.cancel(this.#outgoing.signal?.reason)
  }

  // Before it is sent.

  /** Finds the server of a request with its own credential: the one that it names, or the current one. */
  #findServer(): void {
    const proceed = (server: Target): void => {
      this.#ownCredentialTarget = server
      this.#enter()
    }
    try {
      const server = this.#line.targetFor(this.#leaseOptions, this.#outgoing.signal)
      if (server instanceof Promise) server.then(proceed, (error) => this.#fail(error))
      else proceed(server)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Takes a place at the gate. @param fresh A lease obtained just now; used only if there is a place at once. */
  #enter(fresh?: Lease): void {
    if (this.#isOver) return
    try {
      const gate = this.#gate
      const entry = this.isStream ? gate?.openStream() : gate?.enter(this.#outgoing.signal)
      if (entry instanceof Promise) {
        entry.then(
          (late) => this.#takeLease(late),
          (error) => this.#fail(error),
        )
      } else {
        this.#takeLease(entry, fresh)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Leases the credential, after the gate: it may have changed while the request was queued.
   *
   * The place at the gate is given back while the credential is awaited, because other requests may have theirs.
   */
  #takeLease(entry: GateEntry | undefined, fresh?: Lease): void {
    this.#entry = entry
    if (this.#isOver) {
      this.#leaveGate()
      return
    }
    try {
      if (this.#ownCredentialTarget !== undefined) {
        this.#send(this.#line.anonymousLease, this.#ownCredentialTarget)
        return
      }
      const lease = fresh ?? this.#line.access.lease(this.#outgoing.signal, this.#leaseOptions)
      if (lease instanceof Promise) {
        this.#leaveGate()
        lease.then(
          (late) => this.#enter(late),
          (error) => this.#fail(error),
        )
      } else {
        this.#send(lease, this.#line.targetOf(lease))
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(lease: Lease, server: Target): void {
    this.#lease = lease
    this.#server = server
    this.#controller = undefined
    this.path = pathOn(this.target, server)
    this.requestHeaders = this.#line.headersWith(lease, this.#outgoing)
    const connections = this.#line.connectionsTo(server, lease, this.#exchange)
    this.#connections = connections
    this.#alertMark = connections.alerts?.count ?? 0
    this.requestBody = this.#outgoing.body()
    connections.send(this)
  }

  // Called by the exchange. A controller that is not the current one belongs to an earlier try.

  onRequestStart(controller: Controller): void {
    if (this.#isOver) controller.abort(new Error('the request was aborted'))
    else this.#controller = controller
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText = '',
  ): void {
    if (controller !== this.#controller) return
    if (status < 200) {
      this.#caller.informed?.(this, status, headers, statusText)
      return
    }
    this.statusCode = status
    this.statusText = statusText
    this.headers = headers
    if (!this.#isRefusalBeingHandled()) this.#answer()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (controller === this.#controller) this.push(chunk)
    else controller.abort(replaced())
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    if (controller !== this.#controller) return
    this.#controller = undefined
    if (this.#isAnswered) this.#finish()
    else this.#leaveGate()
    this.end(trailers)
  }

  onResponseError(controller: Controller | null | undefined, error: Error): void {
    const isEarlier = controller != null && controller !== this.#controller
    if (this.#isOver || isEarlier) return
    this.#controller = undefined
    if (this.#isAnswered) {
      this.#breakOff(error)
      return
    }
    this.#leaveGate()
    if (this.statusCode > 0) this.breakOff(error)
    else this.#handleNoResponse(error)
  }

  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
    statusText = '',
  ): void {
    if (controller !== this.#controller) {
      socket.destroy()
      return
    }
    this.statusCode = status
    this.statusText = statusText
    this.headers = headers
    this.socket = socket
    socket.once('close', () => this.#finish())
    this.#accept()
    this.#answer()
  }

  // What the response, or its absence, means for the credential.

  /** Reports how the server took the credential. Returns true if it was refused and a new one is awaited. */
  #isRefusalBeingHandled(): boolean {
    const { access, refreshOn } = this.#line
    const lease = this.#lease
    if (lease === undefined || this.#ownCredentialTarget !== undefined) return false
    if (!isRefused(this.statusCode, this.target.pathname, lease, refreshOn)) {
      this.#accept()
      return false
    }
    const refusal = refusalOf(this)
    if (this.#retries >= access.maxRetries) {
      access.reject(lease, refusal)
      return false
    }
    void this.#retryAfter(lease, refusal)
    return true
  }

  #accept(): void {
    if (this.#ownCredentialTarget !== undefined || this.#lease === undefined) return
    this.#line.accept(this.#lease, this.#leaseOptions, this.headers['date'])
  }

  /** Decides what to do without a response: the cause may be the credential or the connection. */
  #handleNoResponse(error: unknown): void {
    const lease = this.#ownCredentialTarget === undefined ? this.#lease : undefined
    const alert = certificateAlert(error) === undefined ? this.#alert() : error
    const reason = alert ?? error
    const refusal =
      lease && !this.#exchange.isUserOwned ? refusalWithoutResponse(reason, lease) : undefined
    if (lease !== undefined && refusal !== undefined) {
      this.#noResponse = { error: this.#explain(reason) }
      if (this.#retries < this.#line.access.maxRetries) {
        void this.#retryAfter(lease, refusal)
      } else {
        this.#line.access.reject(lease, refusal)
        this.#reject(this.#noResponse.error)
      }
      return
    }
    const { method, canReplay } = this.#outgoing
    const tried = { method, canReplay, repeats: this.#repeats }
    const delayMs = alert === undefined ? resendDelayMs(error, tried) : undefined
    if (delayMs === undefined) {
      this.#fail(reason)
      return
    }
    this.#repeats += 1
    if (delayMs === 0) this.#enter()
    else this.#resendTimer = setTimeout(() => this.#enter(), delayMs)
  }

  #alert(): unknown {
    return this.#connections?.alerts?.since(this.#alertMark)
  }

  /** Reports a refusal, and sends the request again if there is a new credential. */
  async #retryAfter(refused: Lease, refusal: Refusal): Promise<void> {
    const { access } = this.#line
    const { method, signal, canReplay } = this.#outgoing
    try {
      const replacement = await access.replace(refused, refusal, signal, this.#leaseOptions)
      if (this.#isOver) return
      if (replacement !== undefined && canReplay()) {
        this.#discardRefusal()
        access.report({ type: 'retried', method, path: this.target.pathname })
        this.#retries += 1
        this.#repeats = 0
        this.#enter(replacement)
      } else if (this.#noResponse === undefined) {
        this.#answer()
      } else {
        this.#reject(this.#noResponse.error)
      }
    } catch (error) {
      this.cancel(error)
    }
  }

  /** Discards a refusal. Its rest may still arrive, so that the connection can be reused, unless it is large or slow. */
  #discardRefusal(): void {
    const controller = this.#controller
    this.#leaveGate()
    this.#controller = undefined
    this.#noResponse = undefined
    this.reset()
    if (controller === undefined) return
    if (controller.paused) controller.abort(replaced())
    else setTimeout(() => controller.abort(replaced()), MAX_DRAIN_MS).unref()
  }

  // How it ends.

  #answer(): void {
    this.#isAnswered = true
    if (this.hasArrived || this.isBroken) this.#finish()
    this.#caller.answered(this)
  }

  /** Ends the call without a response, with the error converted for the caller. */
  #fail(error: unknown): void {
    if (!this.#isOver) this.#reject(this.#explain(error))
  }

  #reject(error: unknown): void {
    if (this.#isOver) return
    this.#finish()
    if (this.requestBody instanceof Readable) this.requestBody.destroy()
    this.#caller.failed(error)
  }

  /** Ends a response that broke off. */
  #breakOff(error: unknown): void {
    this.#finish()
    this.breakOff(error)
  }

  #finish(): void {
    this.#isOver = true
    this.#leaveGate()
    clearTimeout(this.#resendTimer)
    this.#line.calls.delete(this)
    this.#outgoing.signal?.removeEventListener('abort', this)
  }

  #leaveGate(): void {
    if (this.#entry === undefined) return
    this.#gate?.leave(this.#entry)
    this.#entry = undefined
  }

  #explain(failure: unknown): unknown {
    const error = failure instanceof NoResponseError ? failure.cause : failure
    const bodyError = this.#outgoing.bodyError?.()
    if (bodyError !== undefined) return bodyError
    if (this.#caller.explain !== undefined) return this.#caller.explain(error, this.server)
    const isExplained = isCredentialError(error) || isProgramError(error)
    return isExplained ? error : explainNetworkError(error, this.server.origin)
  }
}

const NO_HEADERS: HeaderValues = {}

function replaced(): Error {
  return new Error('the response was superseded by a retry')
}
