import type { Duplex } from 'node:stream'
import type { Target } from '../../dial/target.ts'
import { UpgradeRefusedError } from '../../errors/index.ts'
import {
  CallbackController,
  type Controller,
  type Handler,
  type RawHeaders,
  type ResponseHeaders,
} from '../../exchange/handler.ts'
import type { Call, Caller } from '../../request/call.ts'
import type { ResponseReader } from '../../request/incoming-response.ts'

/** The handler interface of undici 6, which 7 also accepts. `onHeaders` and `onData` return false to pause. */
export interface LegacyHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void
  onUpgrade?(status: number, headers: RawHeaders | null, socket: Duplex): void
  onHeaders?(status: number, headers: RawHeaders, resume: () => void, statusText: string): unknown
  onData?(chunk: Buffer): unknown
  onComplete?(trailers: RawHeaders | null): void
  onError?(error: Error): void
  onBodySent?(chunk: unknown): void
  onRequestSent?(): void
  onResponseStarted?(): void
}

/** Returns a handler with the newer interface. */
export function asHandler(given: Handler | LegacyHandler): Handler {
  return 'onRequestStart' in given && typeof given.onRequestStart === 'function'
    ? given
    : new LegacyHandlerAdapter(given as LegacyHandler)
}

/** Calls a handler with the older interface. */
class LegacyHandlerAdapter implements Handler {
  readonly #handler: LegacyHandler

  constructor(handler: LegacyHandler) {
    this.#handler = handler
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onConnect?.((reason) => controller.abort(reason), context)
  }

  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
  ): void {
    this.#handler.onUpgrade?.(status, rawFrom(controller.rawHeaders, headers), socket)
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText = '',
  ): void {
    const raw = rawFrom(controller.rawHeaders, headers)
    const resume = (): void => controller.resume()
    if (this.#handler.onHeaders?.(status, raw, resume, statusText) === false) controller.pause()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#handler.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    this.#handler.onComplete?.(rawFrom(controller.rawTrailers, trailers))
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#handler.onError === undefined) throw error
    this.#handler.onError(error)
  }

  onBodySent(chunk: unknown): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }
}

/** Returns headers as a flat list of names and values; converts the object if the exchange has no such list. */
function rawFrom(
  raw: RawHeaders | ResponseHeaders | null | undefined,
  headers: ResponseHeaders,
): RawHeaders {
  if (Array.isArray(raw)) return raw as RawHeaders
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((each) => [Buffer.from(name), Buffer.from(each, 'latin1')]),
  )
}

interface HandlerCallerOptions {
  /** Whether it is an upgrade request. */
  readonly isUpgrade?: boolean
  /** Makes the error of an abort without a reason. */
  readonly aborted?: () => Error
  /** Converts a connection error for the handler; by default to one of our errors. */
  readonly explain?: (error: unknown, target: Target) => unknown
  /** Called when the handler aborts. */
  readonly onAbort?: (reason: Error) => void
  /** Called once, before the handler gets the end or the error. */
  readonly onDone?: () => void
}

/**
 * Reports a call to the handler of a dispatched request.
 *
 * The handler sees one start, one response and one end, however many tries there are. It can abort and pause at any time.
 */
export class HandlerCaller implements Caller, ResponseReader {
  readonly explain: ((error: unknown, target: Target) => unknown) | undefined
  readonly #handler: Handler
  readonly #options: HandlerCallerOptions
  readonly #controller: CallbackController
  #call: Call | undefined
  /** The controller of the try whose response is passed on. */
  #source: Controller | undefined
  /** Chunks that arrived and were not passed on yet. */
  #pending: Buffer[] = []
  #ending: { readonly trailers: ResponseHeaders } | { readonly error: unknown } | undefined
  #hasBegun = false
  #isDone = false

  constructor(handler: Handler, options: HandlerCallerOptions = {}) {
    this.#handler = handler
    this.#options = options
    this.explain = options.explain
    this.#controller = new CallbackController({
      onAbort: (reason) => this.abort(reason ?? options.aborted?.() ?? new Error('aborted')),
      onPause: () => this.#source?.pause(),
      onResume: () => this.#flush(),
    })
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Reports the start of the request to the handler, which can abort it from now on. */
  begin(): void {
    this.#guard(() => this.#handler.onRequestStart(this.#controller, null))
  }

  /** Sends the call whose response is passed on, unless the handler has aborted. */
  send(call: Call): void {
    if (this.#isDone) return
    this.#call = call
    call.start()
  }

  /** Ends the request with an error for the handler. */
  abort(reason: Error): void {
    this.#pending = []
    this.#options.onAbort?.(reason)
    this.#call?.cancel(reason)
    // The call may have ended, or not have started.
    this.failed(reason)
  }

  informed(call: Call, status: number, headers: ResponseHeaders, statusText: string): void {
    this.#setRawHeaders(call.controller, headers)
    this.#guard(() => this.#startResponse(status, headers, statusText))
  }

  answered(call: Call): void {
    const { controller, headers, statusCode, statusText, socket } = call
    this.#source = controller
    this.#setRawHeaders(controller, headers)
    if (socket !== undefined) {
      this.#upgrade(statusCode, headers, socket)
      return
    }
    call.read(this)
    this.#guard(() => this.#startResponse(statusCode, headers, statusText))
    this.#hasBegun = true
    this.#flush()
  }

  failed(error: unknown): void {
    if (this.#isDone) return
    this.#finish()
    this.#handler.onResponseError?.(this.#controller, error as Error)
  }

  data(chunk: Buffer): void {
    if (this.#hasBegun && !this.#controller.paused && this.#pending.length === 0) this.#pass(chunk)
    else this.#pending.push(chunk)
  }

  end(trailers: ResponseHeaders): void {
    this.#ending = { trailers }
    this.#controller.rawTrailers = this.#source?.rawTrailers ?? null
    this.#flush()
  }

  fail(error: unknown): void {
    this.#ending = { error }
    if (this.#pending.length === 0) this.failed(error)
  }

  #startResponse(status: number, headers: ResponseHeaders, statusText: string): void {
    try {
      this.#handler.onResponseStart?.(this.#controller, status, headers, statusText)
    } catch (cause) {
      if (!this.#options.isUpgrade) throw cause
      // The error of undici's own upgrade() only says "bad upgrade".
      throw new UpgradeRefusedError(status, statusText || 'no reason', { cause })
    }
  }

  #pass(chunk: Buffer): void {
    this.#guard(() => this.#handler.onResponseData?.(this.#controller, chunk))
  }

  /** Passes on pending chunks, then lets more arrive. */
  #flush(): void {
    if (!this.#hasBegun) return
    while (!this.#controller.paused && !this.#isDone) {
      const chunk = this.#pending.shift()
      if (chunk === undefined) break
      this.#pass(chunk)
    }
    if (this.#isDone || this.#controller.paused) return
    if (this.#ending === undefined) this.#source?.resume()
    else if ('error' in this.#ending) this.failed(this.#ending.error)
    else this.#complete(this.#ending.trailers)
  }

  #complete(trailers: ResponseHeaders): void {
    this.#finish()
    try {
      this.#handler.onResponseEnd?.(this.#controller, trailers)
    } catch (error) {
      this.#handler.onResponseError?.(this.#controller, error as Error)
    }
  }

  #upgrade(status: number, headers: ResponseHeaders, socket: Duplex): void {
    this.#finish()
    this.#handler.onRequestUpgrade?.(this.#controller, status, headers, socket)
  }

  /** Aborts if the handler throws, as undici does. */
  #guard(call: () => void): void {
    if (this.#isDone) return
    try {
      call()
    } catch (error) {
      this.abort(error as Error)
    }
  }

  /** Sets the headers on the controller, where undici's fetch reads them. */
  #setRawHeaders(controller: Controller | undefined, headers: ResponseHeaders): void {
    this.#controller.rawHeaders = rawFrom(controller?.rawHeaders, headers)
  }

  #finish(): void {
    this.#isDone = true
    this.#options.onDone?.()
  }
}
