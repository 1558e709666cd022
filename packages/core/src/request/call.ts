import { type Duplex, Readable } from 'node:stream'
import type { Refusal } from '../credential/refusal.ts'
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
import type { Outgoing } from './outgoing-request.ts'
import { isRefused, refusalOf, resendAfter, unansweredRefusal } from './refusal.ts'
import { isStreaming, pathOn, type RequestTarget } from './request-target.ts'

/** How long the rest of a refusal may take after a better credential was found. */
const MAX_DRAIN_MS = 2000

/** Where a call reports to: one of the two, once. */
export interface Caller {
  /** The response has begun; it is read from the call. */
  answered(call: Call): void
  /** There is no response. */
  failed(error: unknown): void
  /** A response with a status of 1xx came; another one follows. */
  informed?(call: Call, status: number, headers: ResponseHeaders, statusText: string): void
  /** What the caller gets in place of an error of the connection; an error in our words by default. */
  readonly explain?: ((error: unknown, target: Target) => unknown) | undefined
}

/**
 * One request on its way: its place at the gate, its credential, its tries, and its response.
 *
 * It is sent with the current credential; when the server refuses that, once more with a better one. All calls that
 * are refused at the same time wait for one refresh. Where there is nothing better, or the body cannot be sent again,
 * the caller gets the server's own response. With several credentials at hand, each that is left is tried.
 *
 * It is also the handler that the exchange calls: one object for all, because each object and promise between the
 * caller and the connection costs every request time.
 */
export class Call extends IncomingResponse implements Sendable {
  readonly target: RequestTarget
  /** Whether the response stays open by design: then it counts with the streams. */
  readonly isStream: boolean
  readonly #line: Line
  readonly #outgoing: Outgoing
  readonly #caller: Caller
  readonly #exchange: Exchange
  readonly #gate: Gate | undefined
  readonly #leaseOptions: LeaseOptions | undefined
  /** Where it goes with a credential that the caller brought. */
  #own: Target | undefined
  /** How often it was sent with another credential, because one was refused. */
  #retries = 0
  /** How often it was sent with the same one, because there was no response. */
  #repeats = 0
  #pause: NodeJS.Timeout | undefined

  // The last try.
  path = ''
  requestHeaders: HeaderValues = NO_HEADERS
  requestBody: Uint8Array | Readable | undefined
  #entry: GateEntry | undefined
  #lease: Lease | undefined
  #server: Target | undefined
  #connections: Connections | undefined
  #alertMark = 0
  #controller: Controller | undefined
  /** Why there is no response, while a better credential is looked for. */
  #missing: { readonly error: unknown } | undefined

  /** Whether the caller has the response. */
  #isAnswered = false
  /** Whether nothing more can come of it. */
  #isOver = false

  constructor(
    line: Line,
    exchange: Exchange,
    target: RequestTarget,
    outgoing: Outgoing,
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

  /** The server that it was sent to last. */
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

  /** Ends the request: the reason is the error of its caller, or of the reader of its response. */
  override cancel(reason: unknown): void {
    if (this.#isOver) return
    const controller = this.#controller
    if (this.#isAnswered) this.#breakOff(reason)
    else this.#reject(reason)
    const error = reason instanceof Error ? reason : new Error('the request was aborted')
    controller?.abort(error)
    this.socket?.on('error', () => {}).destroy(error)
  }

  /** The signal's event: an object is a cheaper listener than a function. */
  handleEvent(): void {
    this.cancel(this.#outgoing.signal?.reason)
  }

  // The way to a connection.

  /** A request with a credential of its own goes to the current server, or to the one that it names. */
  #findServer(): void {
    const proceed = (server: Target): void => {
      this.#own = server
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

  /** Takes a place at the gate. @param given A credential taken just now: good if there is a place at once. */
  #enter(given?: Lease): void {
    if (this.#isOver) return
    try {
      const gate = this.#gate
      const entry = this.isStream ? gate?.openStream() : gate?.enter(this.#outgoing.signal)
      if (entry instanceof Promise) {
        entry.then(
          (late) => this.#lend(late),
          (error) => this.#fail(error),
        )
      } else {
        this.#lend(entry, given)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Takes a credential: only now, because it may have changed while the request waited for its place.
   *
   * It keeps no place while it waits for a credential: other requests may have theirs already.
   */
  #lend(entry: GateEntry | undefined, given?: Lease): void {
    this.#entry = entry
    if (this.#isOver) {
      this.#leaveGate()
      return
    }
    try {
      if (this.#own !== undefined) {
        this.#send(this.#line.noCredential, this.#own)
        return
      }
      const lease = given ?? this.#line.access.lease(this.#outgoing.signal, this.#leaseOptions)
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

  // What the exchange reports. A controller that is not the current one belongs to an earlier try.

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
    if (!this.#isBeingImproved()) this.#answer()
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
    else this.#missResponse(error)
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

  // What a response, or none, says about the credential.

  /** Judges the credential by the response. Returns true if it was refused and a better one is being looked for. */
  #isBeingImproved(): boolean {
    const { access, refreshOn } = this.#line
    const lease = this.#lease
    if (lease === undefined || this.#own !== undefined) return false
    if (!isRefused(this.statusCode, this.target.pathname, lease, refreshOn)) {
      this.#accept()
      return false
    }
    const refusal = refusalOf(this)
    if (this.#retries >= access.maxRetries) {
      access.reject(lease, refusal)
      return false
    }
    void this.#improve(lease, refusal)
    return true
  }

  #accept(): void {
    if (this.#own !== undefined || this.#lease === undefined) return
    this.#line.accept(this.#lease, this.#leaseOptions, this.headers['date'])
  }

  /** There is no response: the credential may be the reason, or the connection. */
  #missResponse(error: unknown): void {
    const lease = this.#own === undefined ? this.#lease : undefined
    const alert = certificateAlert(error) === undefined ? this.#alert() : error
    const reason = alert ?? error
    const refusal =
      lease && !this.#exchange.isForeign ? unansweredRefusal(reason, lease) : undefined
    if (lease !== undefined && refusal !== undefined) {
      this.#missing = { error: this.#explain(reason) }
      if (this.#retries < this.#line.access.maxRetries) {
        void this.#improve(lease, refusal)
      } else {
        this.#line.access.reject(lease, refusal)
        this.#reject(this.#missing.error)
      }
      return
    }
    const { method, canReplay } = this.#outgoing
    const tried = { method, canReplay, repeats: this.#repeats }
    const pauseMs = alert === undefined ? resendAfter(error, tried) : undefined
    if (pauseMs === undefined) {
      this.#fail(reason)
      return
    }
    this.#repeats += 1
    if (pauseMs === 0) this.#enter()
    else this.#pause = setTimeout(() => this.#enter(), pauseMs)
  }

  #alert(): unknown {
    return this.#connections?.alerts?.since(this.#alertMark)
  }

  /** Reports a refusal, and sends the request once more if there is a better credential. */
  async #improve(refused: Lease, refusal: Refusal): Promise<void> {
    const { access } = this.#line
    const { method, signal, canReplay } = this.#outgoing
    try {
      const better = await access.replace(refused, refusal, signal, this.#leaseOptions)
      if (this.#isOver) return
      if (better !== undefined && canReplay()) {
        this.#drop()
        access.report({ type: 'retried', method, path: this.target.pathname })
        this.#retries += 1
        this.#repeats = 0
        this.#enter(better)
      } else if (this.#missing === undefined) {
        this.#answer()
      } else {
        this.#reject(this.#missing.error)
      }
    } catch (error) {
      this.cancel(error)
    }
  }

  /** Forgets a refusal. Its rest may still arrive, so that the connection can be used again; not if it is large or slow. */
  #drop(): void {
    const controller = this.#controller
    this.#leaveGate()
    this.#controller = undefined
    this.#missing = undefined
    this.reset()
    if (controller === undefined) return
    if (controller.paused) controller.abort(replaced())
    else setTimeout(() => controller.abort(replaced()), MAX_DRAIN_MS).unref()
  }

  // The end.

  #answer(): void {
    this.#isAnswered = true
    if (this.hasArrived || this.isBroken) this.#finish()
    this.#caller.answered(this)
  }

  /** There is no response, for a reason that is put into words for the caller. */
  #fail(error: unknown): void {
    if (!this.#isOver) this.#reject(this.#explain(error))
  }

  #reject(error: unknown): void {
    if (this.#isOver) return
    this.#finish()
    if (this.requestBody instanceof Readable) this.requestBody.destroy()
    this.#caller.failed(error)
  }

  /** The response breaks off. */
  #breakOff(error: unknown): void {
    this.#finish()
    this.breakOff(error)
  }

  #finish(): void {
    this.#isOver = true
    this.#leaveGate()
    clearTimeout(this.#pause)
    this.#line.calls.delete(this)
    this.#outgoing.signal?.removeEventListener('abort', this)
  }

  #leaveGate(): void {
    if (this.#entry === undefined) return
    this.#gate?.leave(this.#entry)
    this.#entry = undefined
  }

  #explain(given: unknown): unknown {
    const error = given instanceof NoResponseError ? given.cause : given
    const own = this.#outgoing.bodyError?.()
    if (own !== undefined) return own
    if (this.#caller.explain !== undefined) return this.#caller.explain(error, this.server)
    const isExplained = isCredentialError(error) || isProgramError(error)
    return isExplained ? error : explainNetworkError(error, this.server.origin)
  }
}

const NO_HEADERS: HeaderValues = {}

function replaced(): Error {
  return new Error('the response was replaced by a better one')
}
